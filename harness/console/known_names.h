// Lists the names that a user may give: tasks, encodings, profiles, settings, splits, metrics, claims and
// verdicts.
#pragma once
#include <string>
#include <vector>

#include "base/registry.h"
#include "harness/console/command.h"

namespace posbench {

/// Returns the names that a value of this kind can have, in one word each. Encodings have their presets, and those
/// aliases that only one of them has; settings end in '='. Empty for kinds without names.
std::vector<std::string> known_names(ValueKind);

/// Throws InputError, which names the nearest known name.
[[noreturn]] void refuse_unknown_name(const std::string& name);

/// Returns all settings as SECTION.NAME, with the values that apply without a profile.
std::vector<OptionInfo> all_settings();

}  // namespace posbench
