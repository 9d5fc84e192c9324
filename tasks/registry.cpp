#include "tasks/registry.h"

#include <fmt/format.h>

#include <memory>

#include "base/error.h"
#include "tasks/splits.h"

namespace posbench {

Registry<TaskEntry>& tasks() {
  static Registry<TaskEntry> registry{"task"};
  return registry;
}

std::string to_string(Aspect aspect) {
  switch (aspect) {
    case Aspect::recall:
      return "recall";
    case Aspect::counting:
      return "counting";
    case Aspect::copying:
      return "copying";
    case Aspect::order:
      return "order";
    case Aspect::state_tracking:
      return "state tracking";
    case Aspect::arithmetic:
      return "arithmetic";
    case Aspect::hierarchy:
      return "hierarchy";
    case Aspect::aggregation:
      return "aggregation";
  }
  return "";
}

std::string meaning(Aspect aspect) {
  switch (aspect) {
    case Aspect::recall:
      return "find what was read before by a key, by its context or by what it is";
    case Aspect::counting:
      return "count tokens, or compare their numbers";
    case Aspect::copying:
      return "answer tokens of the input again: all or some of them, forward or backward";
    case Aspect::order:
      return "use the order of tokens or their distance";
    case Aspect::state_tracking:
      return "follow a state that each token may change";
    case Aspect::arithmetic:
      return "compute with numbers";
    case Aspect::hierarchy:
      return "follow nested structures, such as brackets and clauses";
    case Aspect::aggregation:
      return "combine all tokens, whatever their order";
  }
  return "";
}

std::string to_string(Learnability learnability) {
  switch (learnability) {
    case Learnability::learnable:
      return "learnable";
    case Learnability::control:
      return "control";
    case Learnability::open:
      return "open";
  }
  return "";
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
