// Joins the answers of a model at multiples of trained values into length grids.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "harness/training/task_setup.h"
#include "results/types/experiment_result.h"

namespace posbench {

/// The multiples of one task, model and seed that were answered.
struct AnsweredGrids {
  std::map<std::string, std::vector<GridPoint>> points;  // by the option of the grid, in any order
  std::map<std::string, std::string> ends;  // the reason why the model does not answer larger multiples, by option

  void add(const TaskGrid& grid, const GridPoint& point) { points[grid.option].push_back(point); }
  /// Returns the grids of the task as a run ends them. A grid without answers is left out, and multiples after its
  /// end are not read. Throws InputError, which names the model by `who`, if a multiple is missing or occurs
  /// twice.
  std::vector<GridResult> join(const TaskSetup&, const std::string& who) const;
};

}  // namespace posbench
