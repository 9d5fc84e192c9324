// The statistics of reports: how sure an accuracy is, a mean over seeds, a paired difference, a statistic of
// resamples.
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

/// 95 % interval of a binomial proportion; [0, 1] of nothing. Wilson 1927, without continuity correction.
Interval wilson(Count);

/// NaN of nothing.
double mean(std::span<const double>);

/// Of the population that the values were drawn from, so n - 1 divides; NaN of fewer than two.
double standard_deviation(std::span<const double>);

/// 95 % interval of the mean by Student's t; nothing for fewer than two values.
std::optional<Interval> t_interval(std::span<const double>);

/// Student's t-test of pairs: is the mean of their differences other than 0?
struct PairedTest {
  double difference = 0;             // the mean
  std::optional<double> deviation;   // standard deviation of one difference; this and the next need two pairs
  std::optional<Interval> interval;  // 95 %, of the mean
  std::optional<double> p;           // two-sided
};

/// `resolution` is the step of what was measured, 1 / n for an accuracy over n cases. Rounding to steps adds
/// resolution^2 / 12 to the variance of each side; a deviation below that is an accident of the steps, and is
/// raised to it, lest two seeds with differences equal by chance count as proof.
PairedTest paired_t_test(std::span<const double> differences, double resolution = 0);

/// Its p-value for a mean difference over `pairs` (two or more), given the standard deviation of one difference.
double t_test_p(double difference, double deviation, int pairs);

/// The smallest true mean difference, in standard deviations of one difference, that a two-sided paired t-test at
/// level alpha finds with probability 0.8. Needs two pairs.
double detectable_effect(int pairs, double alpha);

/// p-values adjusted for their number, in the order given. Holm 1979.
std::vector<double> holm(std::span<const double> p);

/// `count` indices out of 0..count-1, drawn with replacement: one resample of the bootstrap.
std::vector<int> resample(Rng&, int count);

/// The middle 95 % of a statistic over resamples: Efron's percentile interval, linear between draws.
Interval percentile_interval(std::vector<double> draws);

}  // namespace posbench
