// Makes text from a file or a command line safe to print.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace posbench {

/// Replaces control characters, which could break a line or control a terminal, and invalid UTF-8 with '?'.
std::string to_printable(std::string_view text);

/// Does the same for each line, and keeps the line breaks.
std::string to_printable_lines(std::string_view text);

/// Replaces invalid UTF-8 with '?'.
std::string to_valid_utf8(std::string_view text);

/// Returns to_printable(text), without its middle if it is longer than `max_size` bytes.
std::string to_one_line(std::string_view text, size_t max_size = 1000);

/// Returns the text without the spaces at its ends, those of Unicode included.
std::string_view trimmed(std::string_view text);

}  // namespace posbench
