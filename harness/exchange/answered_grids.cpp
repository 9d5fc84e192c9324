#include "harness/exchange/answered_grids.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "harness/training/evaluate_grids.h"

namespace posbench {
namespace {

/// Moves the answered points into the result until the grid ends. Throws InputError if one occurs twice or a
/// smaller one is missing.
void add_points(std::vector<GridPoint> answered, const TaskGrid& grid, const EvaluationOptions& options,
                const std::string& who, GridResult& result) {
  std::ranges::sort(answered, {}, &GridPoint::multiple);
  const auto refuse = [&](double multiple, const char* what) {
    throw InputError(fmt::format("the answers to '{}' of {} {}; score those to each multiple once",
                                 point_name(grid.option, multiple), who, what));
  };
  const auto twice = std::ranges::adjacent_find(answered, {}, &GridPoint::multiple);
  if (twice != answered.end()) refuse(twice->multiple, "occur twice");
  for (const GridPoint& point : answered) {
    const double expected = grid.points[result.points.size()].multiple;
    if (point.multiple != expected) refuse(expected, "are missing");
    result.points.push_back(point);
    if (is_last(grid, result, options)) return;
  }
}

}  // namespace

std::vector<GridResult> AnsweredGrids::join(const TaskSetup& task, const std::string& who) const {
  const EvaluationOptions& options = task.options.evaluation;
  std::vector<GridResult> results;
  for (const TaskGrid& grid : task.grids) {
    if (grid.points.empty()) copy_near_grid(grid, results);
    const auto answered = points.find(grid.option);
    if (answered == points.end()) continue;
    GridResult result{.option = grid.option};
    add_points(answered->second, grid, options, who, result);
    if (!is_last(grid, result, options)) {
      const auto end = ends.find(grid.option);
      if (end == ends.end()) {
        throw InputError(fmt::format(
            "the answers to '{}' of {} are missing; add them, or state in model.grid_end why the model has none",
            point_name(grid.option, grid.points[result.points.size()].multiple), who));
      }
      result.end = GridEnd::encoding;
      result.reason = end->second;
    } else if (!grid.limit.empty()) {
      result.end = GridEnd::task;
      result.reason = grid.limit;
    }
    results.push_back(ended(std::move(result)));
  }
  return results;
}

}  // namespace posbench
