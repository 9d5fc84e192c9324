// Provides the statistics of reports: intervals of accuracies and of means over seeds, the bootstrap.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "base/random.h"
#include "results/types/experiment_result.h"

namespace posbench {

struct Interval {
  double low = 0, high = 0;
  bool operator==(const Interval&) const = default;
};

/// Returns an interval of a binomial proportion; [0, 1] without trials. `z` is the quantile of the normal
/// distribution at its upper end; by default the interval is that of 95 %. Wilson 1927, without continuity
/// correction.
Interval wilson_interval(Count, double z = 1.959963984540054);

/// Returns the mean, or NaN without values.
double mean(std::span<const double>);

/// Returns the sample standard deviation, with the divisor n - 1; NaN for fewer than two values.
double standard_deviation(std::span<const double>);

/// Returns the 95 % interval of the mean by Student's t; empty for fewer than two values.
std::optional<Interval> t_interval(std::span<const double>);

/// Returns half of the width of a 95 % interval by Student's t, in standard errors. `freedom` may be infinite.
double t_half_width(double freedom);

/// Returns the noncentrality, the true effect in standard errors, at which a two-sided t-test that rejects beyond
/// `critical` finds it with probability 0.8.
double detectable_noncentrality(double critical, double freedom);

/// Returns `count` indices out of 0..count-1, drawn with replacement: one resample of the bootstrap.
std::vector<int> resample_indices(Rng&, int count);

/// Returns the middle 95 % of a statistic over resamples: Efron's percentile interval, linear between draws.
Interval percentile_interval(std::vector<double> draws);

}  // namespace posbench
