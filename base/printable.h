// Makes text from a file or a command line safe to print.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace posbench {

/// Replaces control characters, which could break a line or control a terminal, and invalid UTF-8 with '?'.
std::string to_printable(std::string_view text);

/// Replaces invalid UTF-8 with '?'.
std::string to_valid_utf8(std::string_view text);

/// Returns to_printable(text), without its middle if it is longer than `max_size` bytes.
std::string to_one_line(std::string_view text, size_t max_size = 1000);

/// Returns whether the text is not empty and safe to print.
bool is_name(std::string_view text);

}  // namespace posbench
