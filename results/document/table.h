// Defines a small table and writes it for the console and as Markdown and CSV.
#pragma once
#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace posbench {

enum class Align { left, right };

/// A color on terminals. The text always has the meaning of the color too.
enum class Tone { plain, good, bad, faint };

struct Cell {
  Cell(std::string text, Tone tone = Tone::plain) : text(std::move(text)), tone(tone) {}
  Cell(const char* text) : text(text) {}
  std::string text;
  Tone tone = Tone::plain;
};

/// The kind of the names in a text. On a site these names are links to the pages about them.
enum class Names { none, encodings, tasks, claims };

struct Column {
  std::string header;
  Align align = Align::left;
  Names names = Names::none;  // of its cells
};

/// Returns columns of texts, and then columns of numbers, which are aligned at the right.
std::vector<Column> make_columns(std::initializer_list<const char*> texts,
                                 std::initializer_list<const char*> numbers = {});

/// Every row has a cell for each column. The first columns name the rows.
struct Table {
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;
  size_t naming = 1;        // columns that name the rows
  bool is_grouped = false;  // a console that is too narrow has a table for each name except for its last column
  std::string folded = {};  // Markdown hides the rows from `first_folded` on behind this text, if it is not empty
  size_t first_folded = 0;
};

struct ConsoleStyle {
  int width = 0;  // characters; a wider table is split into blocks that repeat the naming columns. 0: no limit
  bool color = false;
};

/// Returns aligned columns under a rule. A header wider than its cells breaks after '_', ':', ',' or a space.
/// Control characters, which could control a terminal, are replaced by '?'.
std::string to_console_text(const Table&, const ConsoleStyle& = {});

/// Returns a table in GitHub Markdown; markup characters in cells are escaped.
std::string to_markdown(const Table&);

/// Returns CSV by RFC 4180. A text that a spreadsheet would run as a formula is prefixed with '.
std::string to_csv(const Table&);

/// Escapes a text as in the cells of a Markdown table.
std::string escape_markdown(std::string_view);

}  // namespace posbench
