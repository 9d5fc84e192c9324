#include "tasks/registry.h"

#include <algorithm>

namespace posbench {

Registry<TaskEntry>& tasks() {
  static Registry<TaskEntry> registry{"task"};
  return registry;
}

std::unique_ptr<Task> make_task(const Spec& spec, const TaskInfo::Split& split, Layout layout) {
  Spec changed = spec;
  changed.options.insert(changed.options.end(), split.options.begin(), split.options.end());
  try {
    return tasks().find(spec.name).make(changed, layout);
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(fmt::format("split '{}': {}", split.name, error.what()));
  }
}

}  // namespace posbench
