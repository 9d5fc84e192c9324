// Resolves values of a split that are relative to the trained values.
#pragma once
#include <vector>

#include "base/registry.h"
#include "base/spec.h"
#include "tasks/task.h"

namespace posbench {

/// Returns true if a value of the split is relative.
bool is_relative(const TaskInfo::Split&);

/// Replaces the relative values of a split by their values for a task that is trained with the options of
/// `trained`:
///
///   length=4x                   four times the greatest trained length, rounded, but at least one more
///   length=1.05x/1.5x/2x/3x     a list of such values
///   length=1x..2x               an interval from one beyond the first value to the second
///   length=3..0.5x              an interval with a number as one end
///   farthest=1x(length)-2       relative to another option, with a number added
///
/// `options` describes the options of the task. If the smallest trained value is 0, a multiple applies to the
/// number of values: 0..7 are 8 values, 2x are 16, and the largest is 15. So 2x is 15, and 1x..2x is 8..15. Throws
/// InputError if a value has another form, an option is no number, or an interval is empty.
TaskInfo::Split resolved(const Spec& trained, const std::vector<OptionInfo>& options, const TaskInfo::Split&);

}  // namespace posbench
