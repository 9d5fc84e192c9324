// Parses and splits text that users type, and writes numbers with a noun.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace posbench {

/// Returns the text with its ASCII letters in lower case.
std::string lower_case(std::string_view text);

/// Returns "; did you mean 'rope'?", or empty text if no known name is near.
std::string did_you_mean(std::string_view given, const std::vector<std::string>& known);

/// Returns "1 seed" or "3 seeds", given a noun whose plural ends with s.
std::string counted(size_t n, const std::string& noun);

/// Splits at every `separator` outside parentheses, and removes spaces around the pieces. Empty text has no
/// pieces.
std::vector<std::string> split_list(std::string_view text, char separator);

/// Parses the whole text as an integer or a finite number. Returns false if it is not a number, or outside of
/// the range of the type.
bool parse_number(std::string_view text, int& value);
bool parse_number(std::string_view text, double& value);

}  // namespace posbench
