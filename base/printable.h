// Makes text from a file safe to print.
#pragma once
#include <string>
#include <string_view>

namespace posbench {

/// Replaces control characters, which could break a line or control a terminal, by '?'.
std::string printable(std::string_view text);

/// Whether the text is not empty and safe to print.
bool is_name(std::string_view text);

}  // namespace posbench
