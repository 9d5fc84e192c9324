#include "results/statistics/threshold_length.h"

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include "results/statistics/statistics.h"

namespace posbench {
namespace {

constexpr int kLengthResamples = 200;

/// Returns the first index at which the decreasing fit of the accuracies is below kThreshold, or counts.size().
/// The method pools adjacent violators: it merges a value with the one before if it is higher, until no value
/// rises.
size_t first_below(const std::vector<Count>& counts) {
  struct Pool {
    size_t begin;
    Count count;
  };
  std::vector<Pool> pools;
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i].total == 0) continue;
    Pool pool{i, counts[i]};
    while (!pools.empty() && accuracy(pools.back().count) < accuracy(pool.count)) {
      pool = {pools.back().begin, pool.count += pools.back().count};
      pools.pop_back();
    }
    pools.push_back(pool);
  }
  const auto below = [](const Pool& pool) { return accuracy(pool.count) < kThreshold; };
  const auto found = std::ranges::find_if(pools, below);
  return found == pools.end() ? counts.size() : found->begin;
}

size_t first_below(const std::vector<std::vector<Count>>& seeds, const std::vector<int>& chosen) {
  std::vector<Count> sums(seeds.front().size());
  for (const int seed : chosen) {
    for (size_t i = 0; i < sums.size(); ++i) sums[i] += seeds[static_cast<size_t>(seed)][i];
  }
  return first_below(sums);
}

}  // namespace

std::optional<ThresholdLength> find_threshold_length(const std::vector<Curve>& curves) {
  std::set<int> lengths;  // or distances
  for (const Curve& curve : curves) {
    for (const auto& [length, count] : curve) lengths.insert(length);
  }
  if (lengths.empty()) return std::nullopt;
  const std::vector<int> grid(lengths.begin(), lengths.end());

  std::vector<std::vector<Count>> seeds;
  std::vector<int> all;
  for (const Curve& curve : curves) {
    all.push_back(static_cast<int>(seeds.size()));
    std::vector<Count>& counts = seeds.emplace_back(grid.size());
    for (size_t i = 0; i < grid.size(); ++i) {
      if (const auto found = curve.find(grid[i]); found != curve.end()) counts[i] = found->second;
    }
  }

  const auto length = [&](size_t i) { return i < grid.size() ? std::optional(grid[i]) : std::nullopt; };
  ThresholdLength found{
      .tested_to = grid.back(), .at = length(first_below(seeds, all)), .has_interval = seeds.size() >= 2};
  if (!found.has_interval) return found;
  Rng rng = make_rng(0, "fall");
  std::vector<size_t> draws(kLengthResamples);
  for (size_t& draw : draws) draw = first_below(seeds, resample_indices(rng, static_cast<int>(seeds.size())));
  std::ranges::sort(draws);
  constexpr size_t kTail = kLengthResamples * 25 / 1000;
  found.low = length(draws[kTail]);
  found.high = length(draws[kLengthResamples - 1 - kTail]);
  return found;
}

}  // namespace posbench
