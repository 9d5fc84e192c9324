#include "results/document/table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <initializer_list>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/printable.h"
#include "base/text.h"
#include "results/document/wrap.h"

namespace posbench {
namespace {

constexpr int kGap = 2;  // spaces between columns

std::string padded(std::string_view text, int to, Align align) {
  const std::string space(static_cast<size_t>(std::max(0, to - display_width(text))), ' ');
  return align == Align::left ? fmt::format("{}{}", text, space) : fmt::format("{}{}", space, text);
}

std::string colored(const std::string& text, Tone tone) {
  switch (tone) {
    case Tone::good:
      return fmt::format("\033[32m{}\033[0m", text);
    case Tone::bad:
      return fmt::format("\033[31m{}\033[0m", text);
    case Tone::faint:
      return fmt::format("\033[2m{}\033[0m", text);
    case Tone::plain:
      break;
  }
  return text;
}

/// Breaks a header into lines no wider than `most` (the cells) or its widest unbreakable piece.
std::vector<std::string> break_header(std::string_view header, int most) {
  std::vector<std::string> pieces(1);
  for (const char c : header) {
    pieces.back() += c;
    if (std::string_view("_:, ").find(c) != std::string_view::npos) pieces.emplace_back();
  }
  for (const std::string& piece : pieces) most = std::max(most, display_width(piece));
  std::vector<std::string> lines(1);
  for (const std::string& piece : pieces) {
    if (display_width(lines.back()) + display_width(piece) > most) lines.emplace_back();
    lines.back() += piece;
  }
  for (std::string& line : lines) line.erase(line.find_last_not_of(' ') + 1);
  return lines;
}

/// A column as the console shows it.
struct ConsoleColumn {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> cells;  // lines of each
  int width = 0;

  void find_width() {
    width = 0;
    for (const std::string& line : header) width = std::max(width, display_width(line));
    for (const std::vector<std::string>& cell : cells) {
      for (const std::string& line : cell) width = std::max(width, display_width(line));
    }
  }
};

ConsoleColumn lay_out(const Table& table, size_t column) {
  ConsoleColumn shown;
  int widest = 0;
  for (const std::vector<Cell>& row : table.rows) {
    shown.cells.push_back({to_printable(row[column].text)});
    widest = std::max(widest, display_width(shown.cells.back().front()));
  }
  shown.header = break_header(to_printable(table.columns[column].header), widest);
  shown.find_width();
  return shown;
}

std::string without_trailing_space(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line + '\n';
}

class ConsoleTable {
 public:
  ConsoleTable(const Table& table, const ConsoleStyle& style) : table_(table), style_(style) {
    for (size_t column = 0; column < table.columns.size(); ++column) columns_.push_back(lay_out(table, column));
    if (style.width > 0) break_wide_cells();
  }

  /// Returns whether all columns fit next to each other.
  bool is_whole() const { return style_.width == 0 || width_of(numbers(columns_.size())) <= style_.width; }

  std::string text() const {
    std::string text;
    for (const std::vector<size_t>& columns : blocks()) {
      if (!text.empty()) text += '\n';
      text += block(columns);
    }
    return text;
  }

 private:
  /// Returns the numbers of the first columns.
  static std::vector<size_t> numbers(size_t count) {
    std::vector<size_t> numbers(count);
    std::iota(numbers.begin(), numbers.end(), size_t{0});
    return numbers;
  }

  int width_of(const std::vector<size_t>& columns) const {
    int width = -kGap;
    for (const size_t column : columns) width += kGap + columns_[column].width;
    return width;
  }

  /// Breaks the texts of columns that are wider than the space next to the first column.
  void break_wide_cells() {
    constexpr int kLeast = 20;
    const int most = std::max(kLeast, style_.width - columns_[0].width - kGap);
    for (size_t column = 1; column < columns_.size(); ++column) {
      ConsoleColumn& shown = columns_[column];
      if (shown.width <= most || table_.columns[column].align == Align::right) continue;
      for (std::vector<std::string>& cell : shown.cells) cell = break_text(cell.front(), most);
      shown.find_width();
    }
  }

  /// The columns of each block: those that name the rows, and as many of the others as fit.
  std::vector<std::vector<size_t>> blocks() const {
    const std::vector<size_t> naming = numbers(table_.naming);
    std::vector<std::vector<size_t>> blocks = {naming};
    for (size_t column = table_.naming; column < columns_.size(); ++column) {
      const int width = width_of(blocks.back()) + kGap + columns_[column].width;
      if (style_.width > 0 && width > style_.width && blocks.back().size() > table_.naming)
        blocks.push_back(naming);
      blocks.back().push_back(column);
    }
    return blocks;
  }

  std::string block(const std::vector<size_t>& columns) const {
    size_t lines = 0;
    for (const size_t column : columns) lines = std::max(lines, columns_[column].header.size());
    std::string text;
    for (size_t line = 0; line < lines; ++line) {
      text += joined(columns, [&](size_t column) {  // headers are aligned at the bottom, on the rule
        const std::vector<std::string>& header = columns_[column].header;
        const size_t blank = lines - header.size();
        return padded(line < blank ? "" : header[line - blank], columns_[column].width,
                      table_.columns[column].align);
      });
    }
    text += std::string(static_cast<size_t>(width_of(columns)), '-') + '\n';
    for (size_t row = 0; row < table_.rows.size(); ++row) text += row_text(columns, row);
    return text;
  }

  std::string row_text(const std::vector<size_t>& columns, size_t row) const {
    size_t lines = 0;
    for (const size_t column : columns) lines = std::max(lines, columns_[column].cells[row].size());
    std::string text;
    for (size_t line = 0; line < lines; ++line) {
      text += joined(columns, [&](size_t column) {
        const std::vector<std::string>& cell = columns_[column].cells[row];
        const std::string padded_line =
            padded(line < cell.size() ? cell[line] : "", columns_[column].width, table_.columns[column].align);
        return style_.color ? colored(padded_line, table_.rows[row][column].tone) : padded_line;
      });
    }
    return text;
  }

  template <class CellText>
  static std::string joined(const std::vector<size_t>& columns, CellText cell) {
    std::string line;
    for (const size_t column : columns) line += (column == columns.front() ? "" : "  ") + cell(column);
    return without_trailing_space(std::move(line));
  }

  const Table& table_;
  const ConsoleStyle& style_;
  std::vector<ConsoleColumn> columns_;
};

/// Returns a table for each group of rows with the same names, except for the last name, under these names.
std::string grouped_text(const Table& table, const ConsoleStyle& style) {
  const auto named = static_cast<std::ptrdiff_t>(table.naming) - 1;
  std::vector<std::pair<std::string, Table>> groups;
  for (const std::vector<Cell>& row : table.rows) {
    std::vector<std::string> names;
    for (const Cell& cell : std::span(row).first(table.naming - 1)) names.push_back(to_printable(cell.text));
    const std::string heading = fmt::format("{}", fmt::join(names, ", "));
    auto group = std::ranges::find(groups, heading, &std::pair<std::string, Table>::first);
    if (group == groups.end()) {
      const auto columns = table.columns.begin() + named;
      group = groups.insert(group, {heading, Table{.columns = {columns, table.columns.end()}}});
    }
    group->second.rows.emplace_back(row.begin() + named, row.end());
  }
  std::string text;
  for (const auto& [heading, group] : groups)
    text += fmt::format("{}{}\n{}", text.empty() ? "" : "\n", heading, ConsoleTable(group, style).text());
  return text;
}

std::string markdown_line(const std::vector<std::string>& cells) {
  return fmt::format("| {} |\n", fmt::join(cells, " | "));
}

/// Returns some rows of a table below its header.
std::string markdown_rows(const Table& table, size_t first, size_t end) {
  std::vector<std::string> headers, rules;
  for (const Column& column : table.columns) {
    headers.push_back(escape_markdown(column.header));
    rules.push_back(column.align == Align::left ? ":--" : "--:");
  }
  std::string text = markdown_line(headers) + markdown_line(rules);
  for (size_t row = first; row < end; ++row) {
    std::vector<std::string> cells;
    for (const Cell& cell : table.rows[row]) cells.push_back(escape_markdown(cell.text));
    text += markdown_line(cells);
  }
  return text;
}

std::string csv_field(std::string text) {
  double number = 0;
  const bool formula = !text.empty() && std::string_view("=+-@\t\r").find(text[0]) != std::string_view::npos;
  if (formula && !parse_number(text, number)) text.insert(text.begin(), '\'');
  if (text.find_first_of(",\"\r\n") == text.npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + '"';
}

}  // namespace

std::vector<Column> make_columns(std::initializer_list<const char*> texts,
                                 std::initializer_list<const char*> numbers) {
  std::vector<Column> columns;
  for (const char* header : texts) columns.push_back({header});
  for (const char* header : numbers) columns.push_back({header, Align::right});
  return columns;
}

std::string escape_markdown(std::string_view text) {
  const std::string printable = to_printable(text);
  const auto is_in_word = [&](size_t at) {  // Markdown does not change '_' inside a word
    const unsigned char c = at < printable.size() ? static_cast<unsigned char>(printable[at]) : ' ';
    return std::isalnum(c) != 0 || c == '_' || c >= 0x80;
  };
  std::string safe;
  for (size_t at = 0; at < printable.size(); ++at) {
    const char c = printable[at];
    if (c == '<') {
      safe += "&lt;";
    } else if (c == '>') {
      safe += "&gt;";
    } else if (c == '&') {
      safe += "&amp;";
    } else {
      const bool is_emphasis = c == '_' && !(at > 0 && is_in_word(at - 1) && is_in_word(at + 1));
      if (is_emphasis || std::string_view("\\`*[]|~$#").find(c) != std::string_view::npos) safe += '\\';
      safe += c;
    }
  }
  return safe;
}

std::string to_console_text(const Table& table, const ConsoleStyle& style) {
  const ConsoleTable whole(table, style);
  return table.is_grouped && !whole.is_whole() ? grouped_text(table, style) : whole.text();
}

std::string to_markdown(const Table& table) {
  const size_t rows = table.rows.size(), shown = table.folded.empty() ? rows : table.first_folded;
  std::string text = shown > 0 || rows == 0 ? markdown_rows(table, 0, shown) : "";
  if (shown == rows) return text;
  if (!text.empty()) text += "\n";
  return text + fmt::format("<details><summary>{}</summary>\n\n{}\n</details>\n", escape_markdown(table.folded),
                            markdown_rows(table, shown, rows));
}

std::string to_csv(const Table& table) {
  const auto line = [](const auto& items, auto text) {
    std::string line;
    for (const auto& item : items)
      line += (&item == &items.front() ? "" : ",") + csv_field(to_valid_utf8(text(item)));
    return line + "\r\n";
  };
  std::string text = line(table.columns, [](const Column& column) { return column.header; });
  for (const std::vector<Cell>& row : table.rows) {
    text += line(row, [](const Cell& cell) { return cell.text; });
  }
  return text;
}

}  // namespace posbench
