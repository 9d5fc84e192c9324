// Lists the names that a user may give: tasks, encodings, profiles, settings, splits, metrics, claims and
// verdicts.
#pragma once
#include <string>
#include <vector>

#include "base/registry.h"

namespace posbench {

/// Returns the names of all tasks and encodings, with those aliases that only one encoding has.
std::vector<std::string> checkable_names();

/// Returns the names of everything that `posbench show` explains.
std::vector<std::string> explained_names();

/// Returns the splits of all tasks, sorted.
std::vector<std::string> split_names();

/// Throws InputError if the name is that of a recurrent block, such as "lstm", which is not an encoding.
void refuse_recurrent_block(const std::string& name);

/// Throws InputError, which names the nearest known name.
[[noreturn]] void refuse_unknown_name(const std::string& name);

/// Returns all settings as SECTION.NAME, with the values that apply without a profile.
std::vector<OptionInfo> all_settings();

}  // namespace posbench
