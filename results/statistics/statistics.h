// Provides the statistics of reports: intervals of accuracies and of means over seeds, corrected p-values, the bootstrap.
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

/// 95 % interval of a binomial proportion; [0, 1] without trials. Wilson 1927, without continuity correction.
Interval wilson(Count);

/// Returns the mean, or NaN without values.
double mean(std::span<const double>);

/// The standard deviation of the population, with the divisor n - 1; NaN for fewer than two values.
double standard_deviation(std::span<const double>);

/// 95 % interval of the mean by Student's t; empty for fewer than two values.
std::optional<Interval> t_interval(std::span<const double>);

/// Half the width of a 95 % interval by Student's t, in standard errors. `freedom` may be infinite.
double t_half_width(double freedom);

/// The noncentrality, the true effect in standard errors, at which a two-sided t-test that rejects beyond `critical`
/// finds it with probability 0.8.
double detectable_noncentrality(double critical, double freedom);

/// p-values corrected for their number, in the order given. Holm 1979.
std::vector<double> holm(std::span<const double> p);

/// `count` indices out of 0..count-1, drawn with replacement: one resample of the bootstrap.
std::vector<int> resample(Rng&, int count);

/// The middle 95 % of a statistic over resamples: Efron's percentile interval, linear between draws.
Interval percentile_interval(std::vector<double> draws);

}  // namespace posbench
