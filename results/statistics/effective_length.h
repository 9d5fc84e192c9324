// Finds the effective length: the largest multiple of the trained length that at least half of the seeds keep.
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

/// Returns an interval of kept_multiple over the sequences that might have been drawn. Its low end is kept if
/// every accuracy up to there is kKept at the low end of its 95 % interval. Beyond its high end an accuracy is
/// below kKept at the high end of its 99.5 % interval, because one such multiple of eight suffices to be wrong.
Interval kept_interval(const GridResult&);

/// Returns the grid of an option, or null if the experiment has none.
const GridResult* find_grid(const ExperimentResult&, const std::string& option);

/// Returns the sequence accuracy of an experiment at a multiple. It is 0 if the experiment did not finish or its
/// grid ended before because of the accuracy. Returns nothing if the multiple was not tested for another reason.
std::optional<double> accuracy_at(const ExperimentResult&, const std::string& option, double multiple);

/// An interval of the median from the k-th smallest low end to the k-th largest high end of the values, for any
/// distribution of the values.
struct OrderInterval {
  size_t k = 1;
  double coverage = 0;  // at least, for this k
};

/// Returns the narrowest such interval of `count` values whose coverage is 0.9 or more; nothing for fewer than
/// five values.
std::optional<OrderInterval> find_order_interval(size_t count);

/// The multiple whose accuracy tables show beside an effective length.
inline constexpr double kShownMultiple = 4;

/// The effective length, or distance, of a task and an encoding. A value that is `tested_to` is a lower bound,
/// because no larger multiple was tested.
struct EffectiveLength {
  std::string option;                // as in GridResult
  std::vector<double> values;        // the multiple that each seed keeps; 0 for experiments that did not finish
  double tested_to = 0;              // the largest multiple that any seed was tested at
  double multiple = 0;               // the largest that at least half of the seeds keep
  std::optional<Interval> interval;  // of `multiple` over all seeds and tests; empty with fewer than five seeds
  double coverage = 0;               // of the interval, at least
  std::optional<double> accuracy;    // at kShownMultiple, mean over seeds; empty if it was not tested there
};

/// Returns nothing if no experiment finished, or if a finished one has no grid of this option.
std::optional<EffectiveLength> find_effective_length(std::span<const ExperimentResult* const>,
                                                     const std::string& option);

}  // namespace posbench
