// Describes the splits of a task and the mark of a task.
#pragma once
#include <string>

#include "tasks/task.h"

namespace posbench {

/// Returns "length=128 (4x)": the values that a split changes, and how they relate to those of training; "-" if it
/// changes none. `quote` is around each value, as "`" in Markdown.
std::string split_changes(const TaskInfo&, const TaskInfo::Split&, const char* quote = "");

/// Returns "open, with the default options: ..." with the note of a marked task; empty for a learnable task.
std::string learnability_text(const TaskInfo&);

}  // namespace posbench
