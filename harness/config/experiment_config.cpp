#include "harness/config/experiment_config.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace posbench {
namespace {

bool has_split(const std::string& task, const std::string& name) {
  const std::vector<TaskInfo::Split>& splits = tasks().find(task).info.splits;
  return std::any_of(splits.begin(), splits.end(),
                     [&](const TaskInfo::Split& split) { return split.name == name; });
}

}  // namespace

TaskSetup setup_task(const RunConfig& config, const std::string& spec) {
  const Spec task = TaskSpec::parse(spec).task;
  std::vector<TaskInfo::Split> user_splits;
  for (const std::string& key : std::set{task.name, task.text()}) {  // the spec, which is longer, comes last
    const auto found = config.splits.find(key);
    if (found == config.splits.end()) continue;
    for (const TaskInfo::Split& split : found->second) {
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
  config.training = e.training();
  config.tasks = {e.task->spec};
  config.encodings = {e.encoding.text()};
  config.seeds = {e.seed};
  if (!e.task->user_splits.empty()) config.splits[e.task->info->name] = e.task->user_splits;
  return config;
}

}  // namespace posbench
