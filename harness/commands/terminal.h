// The width of what is printed, and texts that fit it.
#pragma once
#include <cstddef>
#include <string>

namespace posbench {

constexpr int kPipedWidth = 100;  // columns of what is piped or written to a file: always the same

/// Columns of the terminal that standard output is, or kPipedWidth.
int console_width();
/// Columns of the terminal that standard error is; 0 where it is none.
int message_width();
/// Whether standard output is a terminal.
bool on_terminal();

/// Breaks a text at spaces, where it is wider than `width`; its lines but the first are indented by `indent`. The first
/// begins at that column already.
std::string wrapped(const std::string& text, size_t indent, int width);

}  // namespace posbench
