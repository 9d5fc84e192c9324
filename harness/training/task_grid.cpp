#include "harness/training/task_grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "harness/training/begin_token.h"
#include "results/types/experiment_result.h"
#include "tasks/registry.h"
#include "tasks/splits.h"

namespace posbench {
namespace {

/// Returns the options at a multiple of the trained value: that of the grid first, then those of far evidence.
TaskInfo::Split options_at(const Spec& trained, double multiple, const std::string& option) {
  const bool is_far = option == kFarGrid;
  TaskInfo::Split split{
      point_name(option, multiple), {{is_far ? "length" : option, fmt::format("{}x", multiple)}}, ""};
  if (!is_far) return split;
  for (auto [name, value] : tasks().find(trained.name).info.far->options) {
    const std::string factor = "1x(length)";
    if (const size_t at = value.find(factor); at != value.npos)
      value.replace(at, factor.size(), fmt::format("{}x(length)", multiple));
    split.options.emplace_back(name, value);
  }
  return split;
}

/// Adds the point of a multiple. If the task does not allow it, sets the limit of the grid instead.
void add_point(const Spec& trained, double multiple, const ExperimentOptions& options, int vocabulary,
               TaskGrid& grid) {
  const TaskInfo::Split relative = options_at(trained, multiple, grid.option);
  TaskGrid::Point point{.multiple = multiple, .value = 0, .task = nullptr};
  try {
    const TaskInfo::Split split = resolved(trained, tasks().find(trained.name).options, relative);
    if (!parse_number(split.options.front().second, point.value)) return;
    point.task = make_task_for_model(trained, split, options);
  } catch (const InputError& error) {
    grid.limit = error.what();
    return;
  }
  if (point.task->vocabulary() != vocabulary) {
    grid.limit = fmt::format("'{}' changes the vocabulary, which a trained model cannot follow", relative.name);
    return;
  }
  grid.limit.clear();
  if (!grid.points.empty() && grid.points.back().value == point.value) grid.points.pop_back();
  grid.points.push_back(std::move(point));
}

}  // namespace

std::vector<TaskGrid> make_task_grids(const Spec& trained, const ExperimentOptions& options, int vocabulary) {
  const TaskEntry& entry = tasks().find(trained.name);
  const bool has_far = entry.info.far && options.evaluation.grid_rules == 2;
  std::vector<TaskGrid> grids;
  for (const std::string name : {"length", kFarGrid, "distance"}) {
    const auto is_grid_option = [&](const OptionInfo& o) {
      return o.name == name && o.type == OptionType::integers;
    };
    if (name == kFarGrid ? !has_far : std::ranges::none_of(entry.options, is_grid_option)) continue;
    if (name == kFarGrid && entry.info.far->options.empty()) {
      grids.push_back({.option = name, .points = {}, .limit = ""});
      continue;
    }
    TaskGrid grid{.option = name, .points = {}, .limit = ""};
    for (const double multiple : kGridMultiples) add_point(trained, multiple, options, vocabulary, grid);
    const bool has_longer = grid.points.size() >= 2 && grid.points.front().multiple == 1;
    if (has_longer) grids.push_back(std::move(grid));
  }
  return grids;
}

std::string point_name(const std::string& option, double multiple) {
  return fmt::format("{}={}x", option, multiple);
}

int grid_sequences(int at_trained, double multiple) {
  constexpr int kMinSequences = 64;
  const int fewer = static_cast<int>(std::ceil(at_trained / multiple));
  return std::max(fewer, std::min(at_trained, kMinSequences));
}

int most_sequences(const EvaluationOptions& options, double multiple) {
  return options.grid_rules == 2 ? options.grid : grid_sequences(options.grid, multiple);
}

int expected_sequences(const EvaluationOptions& options, double multiple) {
  constexpr int kTypical = 128;  // until the accuracy is decided
  const int most = most_sequences(options, multiple);
  return options.grid_rules == 2 ? std::min(most, kTypical) : most;
}

}  // namespace posbench
