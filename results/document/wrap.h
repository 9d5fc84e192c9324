// Breaks texts at spaces to fit a number of columns. The columns of a text are those of a terminal.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace posbench {

/// Returns the columns that a terminal needs for a text in UTF-8: two for a wide character, such as a Chinese one,
/// and none for a combining mark.
int display_width(std::string_view text);

/// Breaks a text at spaces into lines of at most `width` columns, or of one wider word. Returns at least one line.
std::vector<std::string> break_text(std::string_view text, int width);

/// Breaks a text like break_text() and joins its lines. All lines but the first are indented by `indent`; the
/// caller prints the first line at that column. The width, which includes the indentation, counts as at least
/// `indent` + 20.
std::string wrap_text(const std::string& text, size_t indent, int width);

/// Breaks the lines of a text that do not fit at spaces, and indents their rest by `indent` + 4. Lines that fit
/// keep their spaces. All lines but the first are indented by `indent`.
std::string wrapped_lines(const std::string& text, size_t indent, int width);

/// Returns two columns: `left`, padded by the caller, and the wrapped `right`, below it if less than 30 columns
/// are left.
std::string two_columns(const std::string& left, const std::string& right, int width);

/// Returns the text with `columns` spaces in front of every line but the first.
std::string indent_lines(const std::string& text, size_t columns);

}  // namespace posbench
