#include "results/statistics/effective_length.h"

#include <algorithm>

#include "results/statistics/learned.h"

namespace posbench {

double kept_multiple(const GridResult& grid) {
  double kept = 0;
  for (const GridPoint& point : grid.points) {
    if (accuracy(point.sequence) < kKept) break;
    kept = point.multiple;
  }
  return kept;
}

const GridResult* find_grid(const ExperimentResult& experiment, const std::string& option) {
  const auto same = [&](const GridResult& grid) { return grid.option == option; };
  const auto found = std::find_if(experiment.grids.begin(), experiment.grids.end(), same);
  return found == experiment.grids.end() ? nullptr : &*found;
}

std::optional<OrderInterval> find_order_interval(size_t count) {
  constexpr double kCoverage = 0.9;
  std::optional<OrderInterval> narrowest;
  // The interval misses the median if fewer than k values are on one side of it: at most
  // P(fewer than k of n fair coins show heads) for each side.
  double outcome = 1, fewer = 0;  // number of heads k - 1: its probability, and that of no more
  for (size_t n = 0; n < count; ++n) outcome /= 2;
  for (size_t k = 1; 2 * k <= count + 1; ++k) {
    fewer += outcome;
    if (1 - 2 * fewer < kCoverage) break;
    narrowest = {.k = k, .coverage = 1 - 2 * fewer};
    outcome *= static_cast<double>(count - k + 1) / static_cast<double>(k);
  }
  return narrowest;
}

std::optional<EffectiveLength> find_effective_length(std::span<const ExperimentResult* const> experiments,
                                                     const std::string& option) {
  EffectiveLength found{.option = option};
  for (const ExperimentResult* experiment : experiments) {
    const GridResult* grid = find_grid(*experiment, option);
    if (experiment->status == Status::ok && (!grid || grid->points.empty())) return std::nullopt;
    found.values.push_back(grid ? kept_multiple(*grid) : 0);
    if (grid) found.tested_to = std::max(found.tested_to, grid->points.back().multiple);
  }
  if (found.tested_to == 0) return std::nullopt;
  std::vector<double> ascending = found.values;
  std::sort(ascending.begin(), ascending.end());
  const size_t count = ascending.size();
  found.multiple = ascending[(count - 1) / 2];  // more than half of the seeds are not below it
  if (const std::optional<OrderInterval> interval = find_order_interval(count)) {
    found.interval = {ascending[interval->k - 1], ascending[count - interval->k]};
    found.coverage = interval->coverage;
  }
  return found;
}

}  // namespace posbench
