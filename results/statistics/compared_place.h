// Reads the values that a comparison compares: a metric on a split, or the effective length of a grid.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "results/statistics/hypothesis_tests.h"
#include "results/types/metric.h"
#include "results/types/report.h"

namespace posbench {

/// A place where two sides are compared: a split, or for the effective length an option that has a grid ("length"
/// or "distance").
struct ComparedPlace {
  std::string name;  // of the split or of the option
  SplitKind kind = SplitKind::out_of_distribution;
  double chance = 0;  // accuracy of a uniform guess; 0 for an option
};

/// Returns the splits that both sides have, or for the effective length the options with a grid in an experiment
/// of either side.
std::vector<ComparedPlace> compared_places(const TaskBaseline& before, const TaskBaseline& after,
                                           const ComparedPair&, Metric);

/// Returns the value at a place, given by its name. Returns nothing if the experiment did not finish or its report
/// does not have the metric.
std::optional<double> value_at(const ExperimentResult&, const std::string& place, Metric);

/// Returns true if the sequence accuracy of a split is kSolved or more, or if every tested multiple of a grid is
/// kept.
bool is_solved(const ExperimentResult&, const std::string& place, Metric);

/// Throws InputError if no experiment of the report has a grid, and the metric needs one.
void require_grids(const NamedReport&, Metric);

}  // namespace posbench
