#include "harness/console/lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <optional>
#include <sstream>
#include <string>

#include "base/printable.h"
#include "harness/console/message.h"
#include "harness/console/terminal.h"

namespace posbench {

int list_width() { return is_terminal() ? console_width() : std::numeric_limits<int>::max(); }

std::string wrapped_lines(const std::string& text, size_t indent, int width) {
  constexpr size_t kContinued = 4;
  const auto space = static_cast<size_t>(std::max(20, width - static_cast<int>(indent)));
  std::istringstream lines(text);
  std::string result;
  std::string line;
  for (bool is_first = true; std::getline(lines, line); is_first = false) {
    if (!is_first) result += '\n' + std::string(indent, ' ');
    for (size_t most = space; line.size() > most; most = space - kContinued) {
      size_t end = line.rfind(' ', most);
      if (end == line.npos || line.find_last_not_of(' ', end) == line.npos)
        end = line.find(' ', line.find_first_not_of(' '));  // a word that is wider is not broken
      if (end == line.npos) break;
      const size_t last = line.find_last_not_of(' ', end);
      result += line.substr(0, last + 1) + '\n' + std::string(indent + kContinued, ' ');
      line.erase(0, end + 1);
    }
    result += line;
  }
  return result;
}

std::string two_columns(const std::string& left, const std::string& right, int width) {
  constexpr int kLeast = 30,
                kIndent = 4;  // the least width of the right column, and its indentation if it is lower
  if (static_cast<int>(left.size()) + kLeast <= width) return left + wrap_text(right, left.size(), width) + "\n";
  return left.substr(0, left.find_last_not_of(' ') + 1) + "\n" + std::string(kIndent, ' ') +
         wrap_text(right, kIndent, width) + "\n";
}

void write_line(const std::string& text) {
  constexpr int kIndent = 4;
  const int width = message_width();
  const bool fits = width == 0 || static_cast<int>(text.size()) <= width;
  write_message((fits ? text : indent_lines(wrap_text(text, 0, width - kIndent), kIndent)) + "\n");
}

void write_path(const std::optional<std::filesystem::path>& file) {
  if (file && !is_quiet()) write_message(fmt::format("written: {}\n", to_one_line(file->string())));
}

}  // namespace posbench
