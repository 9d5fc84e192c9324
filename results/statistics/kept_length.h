// Finds out if an encoding keeps its accuracy at a multiple of the trained length: by a grid of lengths, or by the
// splits that have such lengths.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "results/types/experiment_result.h"

namespace posbench {

/// One encoding on one task, at a multiple of the trained length and beyond.
struct KeptLength {
  std::vector<std::string> splits;  // whose sequences of these lengths count; empty: a grid decides
  /// True if at least half of the seeds have kKept or more, at every multiple up to there if there is a grid.
  bool is_kept = false;
};

/// The results that decide: a grid with the evidence anywhere in the sequence, a grid with the options as trained,
/// or splits.
enum class LengthBasis { far_grid, grid, splits };

/// Returns nothing if the experiments, which are of one task and encoding, were not tested at such lengths.
std::optional<KeptLength> find_kept_length(std::span<const ExperimentResult* const>, double multiple, LengthBasis);

}  // namespace posbench
