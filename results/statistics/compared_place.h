// Reads the values that a comparison compares: a metric on a split, or the effective length of a grid.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "results/statistics/hypothesis_tests.h"
#include "results/types/metric.h"
#include "results/types/report.h"

namespace posbench {

/// The place of a compared value: a split, or for the effective length the option of a grid.
struct ComparedPlace {
  std::string name;
  SplitKind kind = SplitKind::out_of_distribution;
  double chance = 0;
};

/// Returns the places at which an experiment of either side may have the metric.
std::vector<ComparedPlace> compared_places(const TaskBaseline& before, const TaskBaseline& after,
                                           const ComparedPair&, Metric);

/// Returns nothing if the experiment did not finish or its report does not have the metric.
std::optional<double> value_at(const ExperimentResult&, const std::string& place, Metric);

/// Returns true if the sequence accuracy of a split is kSolved or more, or if every tested multiple of a grid is
/// kept.
bool is_solved(const ExperimentResult&, const std::string& place, Metric);

/// Throws InputError if no experiment of the report has a grid, and the metric needs one.
void require_grids(const NamedReport&, Metric);

}  // namespace posbench
