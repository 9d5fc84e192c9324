// Defines a small table and writes it for the console and as Markdown and CSV.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace posbench {

enum class Align { left, right };

/// A hint for terminals with colour. Its meaning is always in the text too.
enum class Tone { plain, good, bad, faint };

struct Cell {
  Cell(std::string text, Tone tone = Tone::plain) : text(std::move(text)), tone(tone) {}
  Cell(const char* text) : text(text) {}
  std::string text;
  Tone tone = Tone::plain;
};

struct Column {
  std::string header;
  Align align = Align::left;
};

/// Every row has a cell for each column. The first column names the rows.
struct Table {
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;
};

struct ConsoleStyle {
  int width = 0;  // characters; a wider table is split into blocks that repeat the first column. 0: no limit
  bool color = false;
};

/// Aligned columns under a rule. A header wider than its cells breaks after '_', ':', ',' or a space. Control
/// characters, which could control a terminal, are replaced by '?'.
std::string console(const Table&, const ConsoleStyle& = {});

/// A table in GitHub Markdown; markup characters in cells are escaped.
std::string markdown(const Table&);

/// CSV by RFC 4180. A text that a spreadsheet would run as a formula is prefixed with '.
std::string csv(const Table&);

/// A single text, escaped as in the cells of a Markdown table.
std::string markdown_text(std::string_view);

}  // namespace posbench
