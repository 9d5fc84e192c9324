#include "results/statistics/ranking.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace posbench {
namespace {

constexpr int kRankResamples = 1000;

using TaskValues = std::vector<std::vector<double>>;  // [encoding][seed]

/// Returns the ranks of means; NaN for means that are NaN.
std::vector<double> ranks(const std::vector<double>& means) {
  std::vector<size_t> order;  // from the best on
  for (size_t i = 0; i < means.size(); ++i) {
    if (!std::isnan(means[i])) order.push_back(i);
  }
  std::ranges::sort(order, [&](size_t a, size_t b) { return means[a] > means[b]; });
  std::vector<double> result(means.size(), std::numeric_limits<double>::quiet_NaN());
  for (size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    while (end < order.size() && means[order[end]] == means[order[begin]]) ++end;
    const double shared = 0.5 * static_cast<double>(begin + 1 + end);  // of the ranks begin + 1 to end
    for (size_t i = begin; i < end; ++i) result[order[i]] = shared;
  }
  return result;
}

std::vector<double> means(const TaskValues& task) {
  std::vector<double> result;
  for (const std::vector<double>& seeds : task) result.push_back(mean(seeds));
  return result;
}

/// Resamples the seeds of each encoding independently, because seeds of two encodings do not correlate out of
/// distribution.
std::vector<double> resampled_means(const TaskValues& task, Rng& rng) {
  std::vector<double> result;
  for (const std::vector<double>& seeds : task) {
    double sum = 0;
    for (size_t i = 0; i < seeds.size(); ++i) {
      sum += seeds[static_cast<size_t>(uniform(rng, 0, static_cast<int>(seeds.size()) - 1))];
    }
    result.push_back(sum / static_cast<double>(seeds.size()));  // NaN without seeds
  }
  return result;
}

/// Sums the ranks of each encoding over tasks, and counts them.
struct Sums {
  explicit Sums(size_t encodings) : sum(encodings), tasks(encodings) {}
  void add(const std::vector<double>& ranks) {
    for (size_t i = 0; i < ranks.size(); ++i) {
      if (!std::isnan(ranks[i])) sum[i] += ranks[i], ++tasks[i];
    }
  }
  std::vector<double> sum;
  std::vector<int> tasks;
};

int fewest_seeds(const std::vector<TaskValues>& values, size_t encoding) {
  size_t fewest = 0;
  for (const TaskValues& task : values) {
    const size_t seeds = task[encoding].size();
    if (seeds > 0) fewest = fewest == 0 ? seeds : std::min(fewest, seeds);
  }
  return static_cast<int>(fewest);
}

}  // namespace

std::vector<std::optional<MeanRank>> rank_encodings(const std::vector<TaskValues>& values) {
  const size_t encodings = values.empty() ? 0 : values.front().size();
  Sums all(encodings);
  for (const TaskValues& task : values) all.add(ranks(means(task)));

  std::vector<std::vector<double>> draws(encodings);
  Rng rng = make_rng(0, "ranking");
  for (int n = 0; n < kRankResamples; ++n) {
    Sums drawn(encodings);
    for (const int task : resample_indices(rng, static_cast<int>(values.size()))) {
      drawn.add(ranks(resampled_means(values[static_cast<size_t>(task)], rng)));
    }
    for (size_t i = 0; i < encodings; ++i) {
      if (drawn.tasks[i] > 0) draws[i].push_back(drawn.sum[i] / drawn.tasks[i]);
    }
  }

  std::vector<std::optional<MeanRank>> result(encodings);
  for (size_t i = 0; i < encodings; ++i) {
    if (all.tasks[i] == 0) continue;
    result[i] = {all.sum[i] / all.tasks[i], percentile_interval(std::move(draws[i])), all.tasks[i],
                 fewest_seeds(values, i)};
  }
  return result;
}

}  // namespace posbench
