// Breaks lists and messages to fit the terminal, and names written files.
#pragma once
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>

namespace posbench {

/// Returns the columns of the terminal. For a pipe and a file, whose lists other programs read by line, returns a
/// number that no line exceeds.
int list_width();

/// Breaks the lines of a text that do not fit at spaces, and indents their rest by `indent` + 4. Lines that fit
/// keep their spaces. All lines but the first are indented by `indent`.
std::string wrapped_lines(const std::string& text, size_t indent, int width);

/// Returns two columns: `left`, padded by the caller, and the wrapped `right`, below it if less than 30 columns
/// are left.
std::string two_columns(const std::string& left, const std::string& right, int width);

/// Writes a message and an end of line to standard error. On a terminal the text is broken at spaces, and its
/// further lines are indented.
void write_line(const std::string& text);

/// Writes the path of a file that a command has written to standard error, unless --quiet is given. Empty: there
/// is no file.
void write_path(const std::optional<std::filesystem::path>& file);

}  // namespace posbench
