// Writes effective lengths as text.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "results/json/json.h"
#include "results/statistics/summary.h"

namespace posbench {

/// Returns "4x", "<1x" for 0, or ">=16x" if no larger multiple was tested.
std::string multiple_text(double multiple, double tested_to);
/// Returns the same with the accuracy at kShownMultiple: "2x (0.41 at 4x)".
std::string multiple_text(const EffectiveLength&);

/// Returns "4x (2x..>=16x; 0.91 at 4x)", without an interval "4x? (0.91 at 4x)", "not learned" if most seeds have
/// not learned the task, or "no grid".
std::string effective_length_text(const std::optional<EffectiveLength>&, const Learned&);

/// Returns the same of a row of a summary or a board; "far 2x (...), near 4x" if it has a grid of far evidence.
std::string effective_lengths_text(const auto& row) {
  const std::optional<EffectiveLength>& near = row.effective_length;
  if (!row.effective_far || !near || !row.learned.by_half_the_seeds())
    return effective_length_text(near, row.learned);
  return "far " + effective_length_text(row.effective_far, row.learned) + ", near " +
         multiple_text(near->multiple, near->tested_to);
}
/// Returns the effective length that stands for the row: with far evidence if that was tested.
const std::optional<EffectiveLength>& headline_length(const auto& row) {
  return row.effective_far ? row.effective_far : row.effective_length;
}

/// Returns true if a row has an effective length.
bool has_grids(const Summary&);

/// Returns the definition of the effective length and of its interval; nothing without a grid.
std::vector<std::string> effective_length_notes(const Summary&);
/// The same for a list of effective lengths; those without a grid are empty.
std::vector<std::string> effective_length_notes(const std::vector<std::optional<EffectiveLength>>&);

/// Writes the multiple, its interval and the largest multiple that was tested.
Json to_json(const EffectiveLength&);

}  // namespace posbench
