// Summarizes encodings over tasks as in Agarwal et al. 2021, arXiv:2108.13264: the interquartile mean, the
// probability of improvement and performance profiles. Their bootstrap resamples tasks too, since other tasks
// would have given other values.
#pragma once
#include <span>
#include <vector>

#include "results/statistics/statistics.h"

namespace posbench {

/// The score of each seed on each task: scores[task][seed].
using TaskScores = std::vector<std::vector<double>>;

/// Draws tasks and, in each, seeds.
TaskScores resample(const TaskScores&, Rng&);

struct Estimate {
  double value = 0;
  Interval interval;  // 95 %, by resampling tasks and, within each, seeds
};

/// Returns the mean of the middle half of all scores. It cuts floor(n / 4) scores at each end, as scipy's
/// trim_mean does.
double interquartile_mean(const TaskScores&);
Estimate estimate_interquartile_mean(const TaskScores&);

/// Returns the probability that a seed of `first` has a higher score than one of `second` on the same task, as the
/// mean over tasks. Equal scores count half. Both have the same tasks.
double probability_of_improvement(const TaskScores& first, const TaskScores& second);
Estimate estimate_probability_of_improvement(const TaskScores& first, const TaskScores& second);

/// Returns the fraction of scores above each threshold, as the mean over tasks.
std::vector<double> performance_profile(const TaskScores&, std::span<const double> thresholds);

}  // namespace posbench
