#include "harness/console/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>
#include <string>

namespace posbench {
namespace {

winsize size(int descriptor) {
  winsize size{};
  return ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size : winsize{};
}

}  // namespace

int console_width() {
  const int width = is_terminal() ? size(STDOUT_FILENO).ws_col : 0;
  return width > 0 ? width : kPipedWidth;
}

int message_width() { return isatty(STDERR_FILENO) == 1 ? size(STDERR_FILENO).ws_col : 0; }

int message_height() { return isatty(STDERR_FILENO) == 1 ? size(STDERR_FILENO).ws_row : 0; }

bool is_terminal() { return isatty(STDOUT_FILENO) == 1; }

std::string wrap_text(const std::string& text, size_t indent, int width) {
  const size_t space = std::max<size_t>(20, static_cast<size_t>(std::max(0, width - static_cast<int>(indent))));
  std::istringstream words(text);
  std::string result, line;
  for (std::string word; words >> word;) {
    if (!line.empty() && line.size() + 1 + word.size() > space) {
      result += line + "\n" + std::string(indent, ' ');
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  return result + line;
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
