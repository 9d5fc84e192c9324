// Values of a split that are relative to what is trained.
#pragma once
#include "base/registry.h"
#include "base/spec.h"
#include "tasks/task.h"

namespace posbench {

/// Whether a value of the split is relative.
bool is_relative(const TaskInfo::Split&);

/// The split with its relative values replaced by what they are for a task that is trained with these options:
///
///   length=4x                   four times the greatest trained length; beyond it, however it is rounded
///   length=1.05x/2x/4x          a list of such
///   length=1x..2x               an interval from beyond the first to the second
///   length=3..0.5x              either end may be a number
///   farthest=1x(length)-2       relative to another option, and a number added
///
/// `options`: those of the task. Values that may be 0 count from there: of the trained distances 0..7, 2x is 15, and 1x..2x is 8..15. Throws
/// std::invalid_argument if a value has another form, an option is no number, or an interval is empty.
TaskInfo::Split resolved(const Spec& trained, const std::vector<OptionInfo>& options, const TaskInfo::Split&);

}  // namespace posbench
