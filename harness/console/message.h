// Writes messages to standard error, which fit the terminal, and measures the terminal.
#pragma once
#include <string>
#include <string_view>

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

/// Writes a text unchanged. A failure to write is ignored, so that it does not end a run.
void write_message(std::string_view text);

/// Writes "posbench: TEXT" on one line: control characters are replaced, and a long text is shortened.
void write_error(std::string_view text);

/// Writes a note and a new line; nothing with --quiet.
void write_note(std::string_view text);

/// Returns a message with an end of line. For a terminal the text is broken at spaces, and its further lines are
/// indented.
std::string fit_line(const std::string& text);

/// Suppresses progress and notes from now on; errors are still written.
void be_quiet();
bool is_quiet();

}  // namespace posbench
