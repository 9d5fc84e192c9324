// One small table, and the forms that people paste it into.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace posbench {

enum class Align { left, right };

/// A hint for terminals with colour; what it means is always in the text too.
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
/// characters, which could drive a terminal, become '?'.
std::string console(const Table&, const ConsoleStyle& = {});

/// For GitHub; what would be markup is escaped.
std::string markdown(const Table&);

/// RFC 4180. A text that a spreadsheet would run as a formula gets a ' in front.
std::string csv(const Table&);

/// A text on its own, escaped as in the cells of a table.
std::string markdown_text(std::string_view);

}  // namespace posbench
