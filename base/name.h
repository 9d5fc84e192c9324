// Decides what a name is: of a task, an encoding, a split or a model.
#pragma once
#include <string>
#include <string_view>

namespace posbench {

/// Returns true if a report may have the name: text that is not empty and safe to print.
bool is_name(std::string_view text);

/// Throws InputError, which begins with `what` ("--name"), unless a new split or model may have the name: a report
/// may have it, and -e, -t or --split select it, also in a list. It then has no space at its ends, no comma but
/// that of a spec, no leading dash and no unpaired parenthesis, and is not "all" or an aspect.
void check_name(std::string_view name, const std::string& what);

/// Throws std::logic_error unless code may register the name of a `kind` ("task"): it consists of letters, digits
/// and _ . + - of ASCII, and begins with a letter or a digit.
void check_identifier(const std::string& kind, std::string_view name);

}  // namespace posbench
