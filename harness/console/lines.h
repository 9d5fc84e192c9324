// Writes messages that fit the terminal, and names written files.
#pragma once
#include <filesystem>
#include <optional>
#include <string>

namespace posbench {

/// Returns the columns of the terminal. For a pipe and a file, whose lists other programs read by line, returns a
/// number that no line exceeds.
int list_width();

/// Writes a message and an end of line to standard error. On a terminal the text is broken at spaces, and its
/// further lines are indented.
void write_line(const std::string& text);

/// Writes the path of a file that a command has written to standard error, unless --quiet is given. Empty: there
/// is no file.
void write_path(const std::optional<std::filesystem::path>& file);

}  // namespace posbench
