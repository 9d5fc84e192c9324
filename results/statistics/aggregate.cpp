#include "results/statistics/aggregate.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace posbench {
namespace {

constexpr int kResamples = 2000;

/// For each seed of the first encoding and each of the second on one task: 1 if the first is higher, 0.5 if they
/// are equal, or 0.
struct Comparisons {
  Comparisons(const std::vector<double>& first, const std::vector<double>& second)
      : rows(static_cast<int>(first.size())), columns(static_cast<int>(second.size())) {
    for (const double a : first) {
      for (const double b : second) higher.push_back(a > b ? 1 : a == b ? 0.5 : 0);
    }
  }
  double mean_of_drawn(Rng& rng) const {
    const std::vector<int> of_first = resample_indices(rng, rows), of_second = resample_indices(rng, columns);
    double sum = 0;
    for (const int i : of_first) {
      for (const int j : of_second) sum += higher[static_cast<size_t>(i * columns + j)];
    }
    return sum / (rows * columns);
  }

  int rows, columns;
  std::vector<double> higher;
};

}  // namespace

TaskScores resample(const TaskScores& scores, Rng& rng) {
  TaskScores drawn;
  for (const int task : resample_indices(rng, static_cast<int>(scores.size()))) {
    const std::vector<double>& of_task = scores[static_cast<size_t>(task)];
    std::vector<double>& values = drawn.emplace_back();
    for (const int seed : resample_indices(rng, static_cast<int>(of_task.size())))
      values.push_back(of_task[static_cast<size_t>(seed)]);
  }
  return drawn;
}

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
  for (int n = 0; n < kResamples; ++n) draws.push_back(interquartile_mean(resample(scores, rng)));
  return {interquartile_mean(scores), percentile_interval(std::move(draws))};
}

double probability_of_improvement(const TaskScores& first, const TaskScores& second) {
  double sum = 0;
  for (size_t task = 0; task < first.size(); ++task) sum += mean(Comparisons(first[task], second[task]).higher);
  return sum / static_cast<double>(first.size());
}

Estimate estimate_probability_of_improvement(const TaskScores& first, const TaskScores& second) {
  std::vector<Comparisons> tasks;
  for (size_t task = 0; task < first.size(); ++task) tasks.emplace_back(first[task], second[task]);
  Rng rng = make_rng(0, "probability of improvement");
  std::vector<double> draws;
  for (int n = 0; n < kResamples; ++n) {
    double sum = 0;
    for (const int task : resample_indices(rng, static_cast<int>(tasks.size())))
      sum += tasks[static_cast<size_t>(task)].mean_of_drawn(rng);
    draws.push_back(sum / static_cast<double>(tasks.size()));
  }
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
