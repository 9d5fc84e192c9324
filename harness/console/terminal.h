// Returns the size of the terminal.
#pragma once

namespace posbench {

constexpr int kPipedWidth = 100;  // columns of a pipe and of a file

/// Returns the columns of standard output: those of its terminal, or kPipedWidth.
int console_width();
/// Returns the columns of standard error, or 0 if it is not a terminal.
int message_width();
/// Returns whether a line of standard error can be redrawn: it is a terminal, and TERM names one that has control
/// sequences.
bool can_redraw();
/// Returns whether standard output is a terminal.
bool is_terminal();
/// Returns whether standard output is a terminal that has colors.
bool can_color();

}  // namespace posbench
