// Names of tasks and encodings as users write them, found regardless of case: `CoPE`, `Randomized:base=ROPE`.
#pragma once
#include <string>
#include <vector>

#include "base/spec.h"
#include "harness/training/task_setup.h"

namespace posbench {

/// The registered name that the text is, regardless of case; the text itself where there is none, or several differ in
/// case only.
std::string task_name(const std::string& text);
std::string encoding_name(const std::string& text);

/// A spec in its canonical form. Throws std::invalid_argument, with the nearest known name, for an unknown name, option or
/// setting.
TaskSpec read_task(const std::string& text);
Spec read_encoding(const std::string& text);

/// The names that match a pattern of the shell, regardless of case.
std::vector<std::string> matching(const std::string& pattern, const std::vector<std::string>& names);

}  // namespace posbench
