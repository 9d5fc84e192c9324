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

/// Returns "4x (2x..>=16x)", without an interval "4x", "not learned" if most seeds have not learned the task, or
/// "no grid".
std::string effective_length_text(const std::optional<EffectiveLength>&, const Learned&);

/// Returns true if a row has an effective length.
bool has_grids(const Summary&);

/// Returns the definition of the effective length and of its interval; nothing without a grid.
std::vector<std::string> effective_length_notes(const Summary&);
/// The same for a list of effective lengths; those without a grid are empty.
std::vector<std::string> effective_length_notes(const std::vector<std::optional<EffectiveLength>>&);

/// Writes the multiple, its interval and the largest multiple that was tested.
Json to_json(const EffectiveLength&);

}  // namespace posbench
