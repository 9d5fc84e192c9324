// Small helpers for names that people type.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace posbench {

/// "; did you mean 'rope'?", or nothing where no known name is near.
std::string did_you_mean(std::string_view given, const std::vector<std::string>& known);

/// Splits at every `separator` that stands outside parentheses; no pieces for empty text.
std::vector<std::string> split(std::string_view text, char separator);

/// Whole text as an integer or a number; false where it is none, or out of the type's range.
bool parse(std::string_view text, int& value);
bool parse(std::string_view text, double& value);

}  // namespace posbench
