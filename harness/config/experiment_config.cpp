#include "harness/config/experiment_config.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace posbench {
namespace {

bool has_split(const std::string& task, const std::string& name) {
  const std::vector<TaskInfo::Split>& splits = tasks().find(task).info.splits;
  return std::ranges::find(splits, name, &TaskInfo::Split::name) != splits.end();
}

}  // namespace

TaskSetup setup_task(const RunConfig& config, const TaskSpec& spec) {
  const Spec& task = spec.task;
  std::vector<TaskInfo::Split> user_splits;
  for (const auto& [key, splits] : config.splits) {  // the spec, which is longer, comes last
    if (key != task.name && key != task.text()) continue;
    for (const TaskInfo::Split& split : splits) {
      const size_t erased =
          std::erase_if(user_splits, [&](const TaskInfo::Split& s) { return s.name == split.name; });
      if (erased > 0 && split.options.empty() && !has_split(task.name, split.name))
        continue;  // of the other key only
      user_splits.push_back(split);
    }
  }
  return make_task_setup(config.for_task(task.name), spec, std::move(user_splits));
}

RunConfig config_of(const Experiment& e) {
  RunConfig config;
  static_cast<ExperimentOptions&>(config) = e.task->options;
  config.training = e.settings();
  config.tasks = {e.task->task_spec};
  config.encodings = {e.encoding};
  config.seeds = {e.seed};
  if (!e.task->user_splits.empty()) config.splits[e.task->info->name] = e.task->user_splits;
  return config;
}

}  // namespace posbench
