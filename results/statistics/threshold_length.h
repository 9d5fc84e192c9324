// Finds the threshold length: the length, or the distance, at which accuracy first falls below a threshold.
#pragma once
#include <map>
#include <optional>
#include <vector>

#include "results/types/experiment_result.h"

namespace posbench {

constexpr double kThreshold = 0.9;  // the token accuracy below which a length or a distance is too far

/// Token accuracy by length or by distance, of one seed.
using Curve = std::map<int, Count>;

/// The length or distance at which accuracy first falls below kThreshold. The accuracy is pooled over seeds and
/// replaced by its best decreasing fit (isotonic regression), so that a few unlucky examples do not count as a
/// fall.
struct ThresholdLength {
  int tested_to = 0;             // the largest length or distance
  std::optional<int> at;         // the first one below; empty if there is none
  bool has_interval = false;     // an interval needs two seeds
  std::optional<int> low, high;  // 95 % interval of `at`, by bootstrap over seeds; empty: beyond tested_to
  bool operator==(const ThresholdLength&) const = default;
};

/// Returns nothing without lengths or distances.
std::optional<ThresholdLength> find_threshold_length(const std::vector<Curve>& seeds);

}  // namespace posbench
