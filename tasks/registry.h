// Tasks by name. A task's file registers it with one object at its end.
#pragma once
#include <functional>
#include <memory>

#include "base/registry.h"
#include "tasks/task.h"

namespace posbench {

struct TaskEntry {
  TaskInfo info;
  std::vector<OptionInfo> options;
  std::function<Spec(const Spec&)> canonical;
  /// Throws std::invalid_argument where an option is unknown, out of range or at odds with another.
  std::function<std::unique_ptr<Task>(const Spec&, Layout)> make;
};

/// All tasks that are linked in.
Registry<TaskEntry>& tasks();

/// The task as one of its splits changes it; the options of the spec come first, those of the split override them.
/// Throws std::invalid_argument, which names the split, where the two do not go together.
std::unique_ptr<Task> make_task(const Spec&, const TaskInfo::Split&, Layout);

/// T is constructed from (const T::Options&, Layout).
template <class T>
struct RegisterTask {
  explicit RegisterTask(TaskInfo info) {
    register_or_exit([&] {
      const std::string name = info.name;
      tasks().add(name, {std::move(info), option_infos<typename T::Options>(),
                         [](const Spec& spec) { return canonical<typename T::Options>(spec, "task"); },
                         [](const Spec& spec, Layout layout) -> std::unique_ptr<Task> {
                           return std::make_unique<T>(read_options<typename T::Options>(spec, "task"), layout);
                         }});
    });
  }
};

}  // namespace posbench
