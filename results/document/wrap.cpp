#include "results/document/wrap.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace posbench {
namespace {

/// A range of code points, with both ends.
struct Range {
  std::uint32_t first, last;
};

// The combining marks and the East Asian wide characters of Unicode 15, without rare scripts.
constexpr Range kMarks[] = {{0x300, 0x36F},   {0x483, 0x489},   {0x591, 0x5BD},   {0x610, 0x61A},
                            {0x64B, 0x65F},   {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF}, {0x200B, 0x200F},
                            {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}};
constexpr Range kWide[] = {{0x1100, 0x115F},   {0x2E80, 0x303E},   {0x3041, 0x33FF},   {0x3400, 0x4DBF},
                           {0x4E00, 0x9FFF},   {0xA000, 0xA4CF},   {0xA960, 0xA97F},   {0xAC00, 0xD7A3},
                           {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},
                           {0x1F300, 0x1F64F}, {0x1F680, 0x1F6FF}, {0x1F900, 0x1F9FF}, {0x20000, 0x3FFFD}};

template <size_t N>
bool is_in(const Range (&ranges)[N], std::uint32_t point) {
  return std::ranges::any_of(ranges,
                             [&](const Range& range) { return point >= range.first && point <= range.last; });
}

}  // namespace

int display_width(std::string_view text) {
  int width = 0;
  for (size_t at = 0; at < text.size();) {
    const auto lead = static_cast<unsigned char>(text[at++]);
    std::uint32_t point = lead < 0xC0 ? lead : lead < 0xE0 ? lead & 0x1F : lead < 0xF0 ? lead & 0x0F : lead & 0x07;
    while (at < text.size() && (text[at] & 0xC0) == 0x80)
      point = point << 6 | static_cast<std::uint32_t>(text[at++] & 0x3F);
    width += is_in(kWide, point) ? 2 : is_in(kMarks, point) ? 0 : 1;
  }
  return width;
}

std::vector<std::string> break_text(std::string_view text, int width) {
  std::vector<std::string> lines(1);
  std::istringstream words{std::string(text)};
  for (std::string word; words >> word;) {
    std::string& line = lines.back();
    if (line.empty()) {
      line = word;
    } else if (display_width(line) + 1 + display_width(word) <= width) {
      line += " " + word;
    } else {
      lines.push_back(word);
    }
  }
  return lines;
}

std::string wrap_text(const std::string& text, size_t indent, int width) {
  std::string result;
  for (const std::string& line : break_text(text, std::max(20, width - static_cast<int>(indent))))
    result += (result.empty() ? "" : "\n" + std::string(indent, ' ')) + line;
  return result;
}

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

std::string indent_lines(const std::string& text, size_t columns) {
  std::string indented;
  for (const char c : text) {
    indented += c;
    if (c == '\n') indented.append(columns, ' ');
  }
  return indented;
}

}  // namespace posbench
