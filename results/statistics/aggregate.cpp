#include "results/statistics/aggregate.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace posbench {
namespace {

constexpr int kResamples = 2000;

TaskScores resample_seeds(const TaskScores& scores, Rng& rng) {
  TaskScores drawn;
  for (const std::vector<double>& of_task : scores) {
    std::vector<double>& values = drawn.emplace_back();
    for (const int seed : resample_indices(rng, static_cast<int>(of_task.size())))
      values.push_back(of_task[static_cast<size_t>(seed)]);
  }
  return drawn;
}

/// Returns the fraction of pairs in which the first value is higher; equal values count half.
double fraction_higher(const std::vector<double>& first, std::vector<double> second) {
  std::ranges::sort(second);
  double higher = 0;
  for (const double value : first) {
    const auto [begin, end] = std::equal_range(second.begin(), second.end(), value);
    higher += static_cast<double>(begin - second.begin()) + 0.5 * static_cast<double>(end - begin);
  }
  return higher / static_cast<double>(first.size() * second.size());
}

}  // namespace

double interquartile_mean(const TaskScores& scores) {
  std::vector<double> all;
  for (const std::vector<double>& of_task : scores) all.insert(all.end(), of_task.begin(), of_task.end());
  std::ranges::sort(all);
  const size_t cut = all.size() / 4;
  return mean(std::span(all).subspan(cut, all.size() - 2 * cut));
}

Estimate estimate_interquartile_mean(const TaskScores& scores) {
  Rng rng = make_rng(0, "interquartile mean");
  std::vector<double> draws;
  for (int n = 0; n < kResamples; ++n) draws.push_back(interquartile_mean(resample_seeds(scores, rng)));
  return {interquartile_mean(scores), percentile_interval(std::move(draws))};
}

double probability_of_improvement(const TaskScores& first, const TaskScores& second) {
  double sum = 0;
  for (size_t task = 0; task < first.size(); ++task) sum += fraction_higher(first[task], second[task]);
  return sum / static_cast<double>(first.size());
}

Estimate estimate_probability_of_improvement(const TaskScores& first, const TaskScores& second) {
  Rng rng = make_rng(0, "probability of improvement");
  std::vector<double> draws;
  for (int n = 0; n < kResamples; ++n)
    draws.push_back(probability_of_improvement(resample_seeds(first, rng), resample_seeds(second, rng)));
  return {probability_of_improvement(first, second), percentile_interval(std::move(draws))};
}

std::vector<double> performance_profile(const TaskScores& scores, std::span<const double> thresholds) {
  std::vector<double> profile;
  for (const double threshold : thresholds) {
    double sum = 0;
    for (const std::vector<double>& of_task : scores) {
      const auto above = std::ranges::count_if(of_task, [&](double score) { return score > threshold; });
      sum += static_cast<double>(above) / static_cast<double>(of_task.size());
    }
    profile.push_back(sum / static_cast<double>(scores.size()));
  }
  return profile;
}

}  // namespace posbench
