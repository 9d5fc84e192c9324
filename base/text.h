// Parses and splits text that users type, and writes numbers with a noun and lists of names.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
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

inline constexpr size_t kMaxNamed = 5;  // in a message

/// Returns "cope, path and 3 more": at most `most` of the names. `count` is the number of all names if `names` has
/// only the first ones.
std::string some_names(std::span<const std::string> names, size_t most = kMaxNamed,
                       std::optional<size_t> count = std::nullopt);

/// Splits at every `separator` outside parentheses, and removes spaces around the pieces. Empty text has no
/// pieces.
std::vector<std::string> split_list(std::string_view text, char separator);

/// Returns the spec for a command in a message: in double quotes if it has parentheses, which a shell refuses.
std::string for_shell(const std::string& spec);

/// Parses the whole text as an integer or a finite number. Returns false if it is not a number, or outside of
/// the range of the type.
bool parse_number(std::string_view text, int& value);
bool parse_number(std::string_view text, double& value);

/// Returns true if each parenthesis has its partner, so that the text can be the value of an option in a spec.
bool has_paired_parentheses(std::string_view text);

}  // namespace posbench
