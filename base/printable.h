// Text from a file or a command line, made safe to show.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace posbench {

/// Control characters, which could break a line or drive a terminal, and bytes that are not UTF-8 become '?'.
std::string printable(std::string_view text);

/// Bytes that are not UTF-8 become '?'.
std::string valid_utf8(std::string_view text);

/// Printable, and its middle left out where it is longer than `most` bytes.
std::string one_line(std::string_view text, size_t most = 1000);

/// Not empty, and safe to show.
bool is_name(std::string_view text);

}  // namespace posbench
