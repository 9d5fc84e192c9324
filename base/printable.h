// Text from a file, made safe to show.
#pragma once
#include <string>
#include <string_view>

namespace posbench {

/// Control characters, which could break a line or drive a terminal, become '?'.
std::string printable(std::string_view text);

/// Not empty, and safe to show.
bool is_name(std::string_view text);

}  // namespace posbench
