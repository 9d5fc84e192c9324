#include "tasks/registry.h"

#include <fmt/format.h>

#include "base/error.h"
#include "tasks/splits.h"

namespace posbench {

Registry<TaskEntry>& tasks() {
  static Registry<TaskEntry> registry{"task"};
  return registry;
}

std::unique_ptr<Task> make_task(const Spec& spec, const TaskInfo::Split& split, Layout layout) {
  const TaskEntry& entry = tasks().find(spec.name);
  try {
    Spec changed = spec;
    for (const auto& option : resolved(spec, entry.options, split).options) changed.options.push_back(option);
    return entry.make(changed, layout);
  } catch (const InputError& error) {
    throw InputError(fmt::format("split '{}': {}", split.name, error.what()));
  }
}

}  // namespace posbench
