// Finds the effective length: the largest multiple of the trained length that most seeds keep.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "results/statistics/learned.h"
#include "results/statistics/statistics.h"
#include "results/types/experiment_result.h"

namespace posbench {

/// Returns the largest multiple of the grid up to which the sequence accuracy is kKept or more at every multiple;
/// 0 if it is less at the first one.
double kept_multiple(const GridResult&);

/// Returns the grid of an option, or null if the experiment has none.
const GridResult* find_grid(const ExperimentResult&, const std::string& option);

/// An interval of the median from the k-th smallest value to the k-th largest, for any distribution of the values.
struct OrderInterval {
  size_t k = 1;
  double coverage = 0;  // at least, for this k
};

/// Returns the narrowest such interval of `count` values whose coverage is 0.9 or more; nothing for fewer than
/// five values.
std::optional<OrderInterval> find_order_interval(size_t count);

/// The effective length, or distance, of a task and an encoding. A value that is `tested_to` is a lower bound,
/// because no larger multiple was tested.
struct EffectiveLength {
  std::string option;                // "length" or "distance"
  std::vector<double> values;        // the multiple that each seed keeps; 0 for experiments that did not finish
  double tested_to = 0;              // the largest multiple that any seed was tested at
  double multiple = 0;               // the largest that more than half of the seeds keep
  std::optional<Interval> interval;  // of `multiple` over all seeds; empty with fewer than five seeds
  double coverage = 0;               // of the interval, at least
};

/// Returns nothing if no experiment finished, or if a finished one has no grid of this option.
std::optional<EffectiveLength> find_effective_length(std::span<const ExperimentResult* const>,
                                                     const std::string& option);

}  // namespace posbench
