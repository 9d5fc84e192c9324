#include "results/statistics/effective_length.h"

#include <algorithm>
#include <cmath>

#include "results/statistics/learned.h"

namespace posbench {
namespace {

/// Returns the largest multiple up to which every point passes; 0 if the first one does not.
template <class Passes>
double largest_multiple(const GridResult& grid, Passes passes) {
  double kept = 0;
  for (const GridPoint& point : grid.points) {
    if (!passes(point.sequence)) break;
    kept = point.multiple;
  }
  return kept;
}

/// Returns the probability of `least` or more successes in `count` trials.
double upper_tail(size_t count, size_t least, double probability) {
  double sum = 0, ways = 1;  // the number of sets of n trials
  for (size_t n = count + 1; n-- > least;) {
    sum += ways * std::pow(probability, static_cast<double>(n)) *
           std::pow(1 - probability, static_cast<double>(count - n));
    ways *= static_cast<double>(n) / static_cast<double>(count - n + 1);
  }
  return sum;
}

}  // namespace

double kept_multiple(const GridResult& grid) {
  return largest_multiple(grid, [](Count sequence) { return accuracy(sequence) >= kKept; });
}

Interval kept_interval(const GridResult& grid) {
  constexpr double kZ = 2.807033768343811;  // the 99.75 % quantile of the normal distribution
  return {largest_multiple(grid, [](Count sequence) { return wilson_interval(sequence).low >= kKept; }),
          largest_multiple(grid, [](Count sequence) { return wilson_interval(sequence, kZ).high >= kKept; })};
}

const GridResult* find_grid(const ExperimentResult& experiment, const std::string& option) {
  const auto found = std::ranges::find(experiment.grids, option, &GridResult::option);
  return found == experiment.grids.end() ? nullptr : &*found;
}

std::optional<double> accuracy_at(const ExperimentResult& experiment, const std::string& option, double multiple) {
  if (experiment.status != Status::ok) return 0;
  const GridResult* grid = find_grid(experiment, option);
  if (grid == nullptr) return std::nullopt;
  const auto point = std::ranges::find(grid->points, multiple, &GridPoint::multiple);
  if (point != grid->points.end()) return accuracy(point->sequence);
  const bool ended = grid->end == GridEnd::accuracy && multiple > grid->points.back().multiple;
  return ended ? std::optional(0.0) : std::nullopt;
}

std::optional<OrderInterval> find_order_interval(size_t count) {
  constexpr double kCoverage = 0.9;
  // A value of one half or more lies on each side of the median. The low end of a seed's interval is above its
  // true multiple, or the high end below, with at most these probabilities: those of the sequential test in steps
  // of 64 sequences if each true accuracy is kKept (tests/results/effective_length_simulation.py computes them).
  constexpr double kTooHigh = 0.073, kTooLow = 0.058;
  std::optional<OrderInterval> narrowest;
  for (size_t k = 1; 2 * k <= count + 1; ++k) {
    const size_t on_one_side = count - k + 1;
    const double coverage =
        1 - upper_tail(count, on_one_side, 0.5 + kTooHigh / 2) - upper_tail(count, on_one_side, 0.5 + kTooLow / 2);
    if (coverage < kCoverage) break;
    narrowest = {.k = k, .coverage = coverage};
  }
  return narrowest;
}

std::optional<EffectiveLength> find_effective_length(std::span<const ExperimentResult* const> experiments,
                                                     const std::string& option) {
  EffectiveLength found{.option = option};
  std::vector<double> lows, highs;
  double sum = 0;
  bool is_shown_tested = true;
  for (const ExperimentResult* experiment : experiments) {
    const GridResult* grid = find_grid(*experiment, option);
    if (experiment->status == Status::ok && (!grid || grid->points.empty())) return std::nullopt;
    found.values.push_back(grid ? kept_multiple(*grid) : 0);
    const Interval interval = grid ? kept_interval(*grid) : Interval{};
    lows.push_back(interval.low);
    highs.push_back(interval.high);
    if (grid) found.tested_to = std::max(found.tested_to, grid->points.back().multiple);
    const std::optional<double> shown = accuracy_at(*experiment, option, kShownMultiple);
    sum += shown.value_or(0);
    is_shown_tested = is_shown_tested && shown.has_value();
  }
  if (found.tested_to == 0) return std::nullopt;
  const size_t count = found.values.size();
  std::vector<double> ascending = found.values;
  std::ranges::sort(ascending);
  std::ranges::sort(lows);
  std::ranges::sort(highs);
  found.multiple = ascending[count / 2];  // at least half of the seeds are not below it
  if (is_shown_tested) found.accuracy = sum / static_cast<double>(count);
  if (const std::optional<OrderInterval> interval = find_order_interval(count)) {
    found.interval = {lows[interval->k - 1], highs[count - interval->k]};
    found.coverage = interval->coverage;
  }
  return found;
}

}  // namespace posbench
