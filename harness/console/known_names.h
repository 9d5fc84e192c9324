// Lists the names that a user may give: tasks, encodings, profiles and settings.
#pragma once
#include <string>
#include <vector>

#include "base/registry.h"

namespace posbench {

/// Returns the names of all tasks and encodings, and of the profiles if requested.
std::vector<std::string> known_names(bool with_profiles);

/// Throws InputError, which names the nearest task, encoding or profile.
[[noreturn]] void refuse_unknown_name(const std::string& name);

/// Returns all settings as SECTION.NAME, with the values that apply without a profile.
std::vector<OptionInfo> all_settings();

}  // namespace posbench
