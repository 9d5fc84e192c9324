// Builds a task as a model reads it: in the model's layout of answers, and after its begin token.
#pragma once
#include <memory>

#include "base/spec.h"
#include "harness/training/options.h"
#include "tasks/task.h"

namespace posbench {

/// Builds the task with the options of the spec, overridden by those of the split, which are not relative, for a
/// model with these options. With model.begin_token every example begins with a token whose id follows those of
/// the task. It is segment 0, has no target and is never predicted. All other tokens are one position and one
/// segment later. Throws InputError if the options are not compatible.
std::unique_ptr<Task> make_task_for_model(const Spec&, const TaskInfo::Split&, const ExperimentOptions&);

}  // namespace posbench
