// Describes the splits of tasks.
#pragma once
#include <string>

#include "tasks/task.h"

namespace posbench {

/// Returns "length=128 (4x)": the values that a split changes, and how they relate to those of training; "-" if it
/// changes none. `quote` is around each value, as "`" in Markdown.
std::string split_changes(const TaskInfo&, const TaskInfo::Split&, const char* quote = "");

}  // namespace posbench
