#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/printable.h"
#include "results/document/render.h"

namespace posbench {
namespace {

constexpr size_t kLongText = 40;  // bytes; a column with a longer text has a fixed width

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Returns a character as LaTeX.
std::string escaped(char c) {
  static const std::map<char, std::string> kNames{{'\\', "\\textbackslash{}"},
                                                  {'~', "\\textasciitilde{}"},
                                                  {'^', "\\textasciicircum{}"},
                                                  {'|', "\\textbar{}"},
                                                  {'<', "$<$"},
                                                  {'>', "$>$"}};
  if (const auto name = kNames.find(c); name != kNames.end()) return name->second;
  return std::string(std::string_view("{}$&#_%").find(c) == std::string_view::npos ? "" : "\\") + c;
}

/// Returns true if the '-' at `at` is the sign of a number.
bool is_minus(std::string_view text, size_t at) {
  const bool begins = at == 0 || text[at - 1] == ' ' || text[at - 1] == '(';
  return begins && at + 1 < text.size() && is_digit(text[at + 1]);
}

std::string column_form(const Table& table, size_t column) {
  if (table.columns[column].align == Align::right) return "r";
  const bool is_long =
      std::ranges::any_of(table.rows, [&](const auto& row) { return row[column].text.size() > kLongText; });
  return is_long ? "p{0.4\\textwidth}" : "l";
}

/// Returns a row of a tabular. A '[' or '*' in front of it would belong to the end of the row above.
std::string row_text(const std::vector<std::string>& cells) {
  const bool is_option = !cells.front().empty() && (cells.front()[0] == '[' || cells.front()[0] == '*');
  return fmt::format("{}{} \\\\\n", is_option ? "{}" : "", fmt::join(cells, " & "));
}

}  // namespace

std::string escape_latex(std::string_view text) {
  static constexpr std::pair<std::string_view, std::string_view> kSigns[] = {
      {"->", "$\\to$"}, {">=", "$\\ge$"}, {"<=", "$\\le$"}, {"±", "$\\pm$"}, {"--", "-{}-"}};
  const std::string printable = to_printable(text);
  std::string safe;
  for (size_t at = 0; at < printable.size();) {
    const std::string_view rest = std::string_view(printable).substr(at);
    const auto sign =
        std::ranges::find_if(kSigns, [&](const auto& known) { return rest.starts_with(known.first); });
    if (sign != std::end(kSigns)) {
      safe += sign->second;
      at += sign->first.size();
      continue;
    }
    safe += rest[0] == '-' && is_minus(printable, at) ? "$-$" : escaped(rest[0]);
    ++at;
  }
  return safe;
}

std::string to_latex(const Table& table) {
  std::string form;
  std::vector<std::string> headers;
  for (size_t column = 0; column < table.columns.size(); ++column) {
    form += column_form(table, column);
    headers.push_back(escape_latex(table.columns[column].header));
  }
  std::string text =
      fmt::format("% needs \\usepackage{{booktabs}}\n\\begin{{tabular}}{{{}}}\n\\toprule\n{}\\midrule\n", form,
                  row_text(headers));
  for (const std::vector<Cell>& row : table.rows) {
    std::vector<std::string> cells;
    for (const Cell& cell : row) {
      cells.push_back(escape_latex(cell.text));
      if (cell.tone == Tone::good && !cell.text.empty()) cells.back() = "\\textbf{" + cells.back() + "}";
    }
    text += row_text(cells);
  }
  return text + "\\bottomrule\n\\end{tabular}\n";
}

}  // namespace posbench
