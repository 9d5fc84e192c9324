// Registers tasks by name. An object of RegisterTask at the end of the file of a task registers it.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/options.h"
#include "base/real.h"
#include "base/registry.h"
#include "base/spec.h"
#include "tasks/task.h"

namespace posbench {

struct TaskEntry {
  TaskInfo info;
  std::vector<OptionInfo> options;
  std::function<Spec(const Spec&)> canonical;
  /// Throws InputError if an option is unknown, out of range or contradicts another.
  std::function<std::unique_ptr<Task>(const Spec&, Layout)> make;
};

/// Returns the registry of all tasks that are linked in.
Registry<TaskEntry>& tasks();

/// Builds the task with the options of the spec, overridden by those of the split. Throws InputError, which names
/// the split, if they are not compatible.
std::unique_ptr<Task> make_task(const Spec&, const TaskInfo::Split&, Layout);

/// Throws std::logic_error with the name of the task if its name, family, definition, source or splits are
/// missing, or if its first split is not in_distribution without options.
void check_info(const TaskInfo&);

inline namespace POSBENCH_REAL {

/// Registers the task T, which is constructed from (const T::Options&, Layout). A plug-in's file is compiled for
/// doubles, too, for the sake of its encodings. Its tasks are registered once.
template <class T>
struct RegisterTask {
  explicit RegisterTask(TaskInfo info) {
    if constexpr (std::is_same_v<Real, double>) return;
    register_or_exit([&] {
      check_info(info);
      const std::string name = info.name;
      tasks().add(name, {std::move(info), list_options<typename T::Options>(),
                         [](const Spec& spec) { return make_canonical<typename T::Options>(spec, "task"); },
                         [](const Spec& spec, Layout layout) -> std::unique_ptr<Task> {
                           return std::make_unique<T>(read_options<typename T::Options>(spec, "task"), layout);
                         }});
    });
  }
};

}  // namespace POSBENCH_REAL
}  // namespace posbench
