// Returns the size of the terminal.
#pragma once

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

}  // namespace posbench
