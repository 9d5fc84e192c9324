#include "results/statistics/compared_place.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/printable.h"
#include "results/statistics/effective_length.h"
#include "results/statistics/learned.h"

namespace posbench {

std::vector<ComparedPlace> compared_places(const TaskBaseline& before, const TaskBaseline& after,
                                           const ComparedPair& pair, Metric metric) {
  std::vector<ComparedPlace> places;
  if (metric == Metric::effective_length) {
    for (const char* option : {kFarGrid, "length", "distance"}) {
      const auto has_grid = [&](const ExperimentResult* e) { return find_grid(*e, option) != nullptr; };
      if (std::ranges::any_of(pair.before, has_grid) || std::ranges::any_of(pair.after, has_grid))
        places.push_back({.name = option});
    }
    return places;
  }
  for (const SplitBaseline& split : before.splits) {
    const auto same = [&](const SplitBaseline& s) { return s.name == split.name && s.kind == split.kind; };
    if (std::ranges::any_of(after.splits, same))
      places.push_back({.name = split.name, .kind = split.kind, .chance = split.chance});
  }
  return places;
}

std::optional<double> value_at(const ExperimentResult& experiment, const std::string& place, Metric metric) {
  if (metric != Metric::effective_length) return split_value(experiment, place, metric);
  const GridResult* grid = find_grid(experiment, place);
  return grid ? std::optional(kept_multiple(*grid)) : std::nullopt;
}

bool is_solved(const ExperimentResult& experiment, const std::string& place, Metric metric) {
  if (metric != Metric::effective_length) return split_accuracy(experiment, place, Metric::sequence) >= kSolved;
  const GridResult* grid = find_grid(experiment, place);
  return grid && !grid->points.empty() && kept_multiple(*grid) == grid->points.back().multiple;
}

void require_grids(const NamedReport& named, Metric metric) {
  const auto has_grid = [](const ExperimentResult& e) { return !e.grids.empty(); };
  if (metric != Metric::effective_length || std::ranges::any_of(named.report.experiments, has_grid)) return;
  throw InputError(to_printable(fmt::format(
      "{} has no grid of lengths, from which effective lengths follow; run it with --set evaluation.grid=256, or compare "
      "by another --metric",
      named.name)));
}

}  // namespace posbench
