// How far an encoding carries: the length, or the distance, at which accuracy first falls.
#pragma once
#include <map>
#include <optional>
#include <vector>

#include "results/types/experiment_result.h"

namespace posbench {

constexpr double kThreshold = 0.9;  // the token accuracy below which a length or a distance is too far

/// Token accuracy by length or by distance, of one seed.
using Curve = std::map<int, Count>;

/// Where accuracy first falls below kThreshold. It is that of all seeds together, and its best falling fit (isotonic
/// regression), lest a few unlucky examples count as a fall.
struct ThresholdLength {
  int tested_to = 0;             // the greatest length or distance
  std::optional<int> at;         // the first one below; nothing where none is
  bool has_interval = false;     // which needs two seeds
  std::optional<int> low, high;  // 95 % interval of `at`, by bootstrap over seeds; nothing: beyond tested_to
  bool operator==(const ThresholdLength&) const = default;
};

/// Nothing where there is nothing to look at.
std::optional<ThresholdLength> find_threshold_length(const std::vector<Curve>& seeds);

}  // namespace posbench
