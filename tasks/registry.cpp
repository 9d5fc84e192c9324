#include "tasks/registry.h"

#include <fmt/format.h>

#include <memory>
#include <stdexcept>
#include <string>

#include "base/error.h"
#include "base/name.h"
#include "tasks/splits.h"

namespace posbench {

Registry<TaskEntry>& tasks() {
  static Registry<TaskEntry> registry{"task"};
  return registry;
}

const EnumNames<Aspect>& names_of(Aspect) {
  static const EnumNames<Aspect> names{{Aspect::recall, "recall"},
                                       {Aspect::counting, "counting"},
                                       {Aspect::copying, "copying"},
                                       {Aspect::order, "order"},
                                       {Aspect::state_tracking, "state tracking"},
                                       {Aspect::arithmetic, "arithmetic"},
                                       {Aspect::hierarchy, "hierarchy"},
                                       {Aspect::aggregation, "aggregation"}};
  return names;
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

const EnumNames<Learnability>& names_of(Learnability) {
  static const EnumNames<Learnability> names{
      {Learnability::learnable, "learnable"}, {Learnability::control, "control"}, {Learnability::open, "open"}};
  return names;
}

void check_info(const TaskInfo& info) {
  if (info.name.empty()) {
    throw std::logic_error(
        fmt::format("the registration of a task has no name; its definition is '{}'", info.definition));
  }
  check_identifier("task", info.name);
  for (const TaskInfo::Split& split : info.splits) check_identifier("split", split.name);
  require_field("task", info.name, "family", !info.family.empty());
  require_field("task", info.name, "definition", !info.definition.empty());
  require_field("task", info.name, "source", !info.source.empty());
  require_field("task", info.name, "splits", !info.splits.empty());
  const TaskInfo::Split& first = info.splits.front();
  if (first.name != "in_distribution" || !first.options.empty()) {
    throw std::logic_error(
        fmt::format("the first split of task '{}' is '{}'{}; expected in_distribution, which changes no option",
                    info.name, first.name, first.options.empty() ? "" : " and changes options"));
  }
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
