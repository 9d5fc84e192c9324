// Returns the width of the terminal and breaks texts to fit it.
#pragma once
#include <cstddef>
#include <string>

namespace posbench {

constexpr int kPipedWidth = 100;  // columns of a pipe and of a file

/// Returns the columns of standard output: those of its terminal, or kPipedWidth.
int console_width();
/// Returns the columns of standard error, or 0 if it is not a terminal.
int message_width();
/// Returns the lines of standard error, or 0 if it is not a terminal.
int message_height();
/// Returns whether standard output is a terminal.
bool is_terminal();

/// Breaks a text at spaces into lines of at most `width` columns. All lines but the first are indented by
/// `indent`; the first line is printed at that column by the caller.
std::string wrap_text(const std::string& text, size_t indent, int width);

/// Returns the text with `columns` spaces in front of every line but the first.
std::string indent_lines(const std::string& text, size_t columns);

}  // namespace posbench
