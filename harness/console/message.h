// Writes messages to standard error, which fit the terminal, and names written files.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace posbench {

/// Writes a text unchanged. A failure to write is ignored, so that it does not end a run.
void write_message(std::string_view text);

/// Writes "posbench: TEXT" on one line: control characters are replaced, and a long text is shortened.
void write_error(std::string_view text);

/// Writes a note and a new line; nothing with --quiet.
void write_note(std::string_view text);

/// Returns a message with an end of line. For a terminal the text is broken at spaces, and its further lines are
/// indented.
std::string fit_line(const std::string& text);

/// Writes the path of a file that a command has written, unless --quiet is given. Empty: there is no file.
void write_path(const std::optional<std::filesystem::path>& file);

/// Returns the columns of the terminal of standard output. For a pipe and a file, whose lists other programs read
/// by line, returns a number that no line exceeds.
int list_width();

/// Suppresses progress and notes from now on; errors are still written.
void be_quiet();
bool is_quiet();

}  // namespace posbench
