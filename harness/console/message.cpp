#include "harness/console/message.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/printable.h"
#include "results/document/wrap.h"

namespace posbench {
namespace {

bool quiet = false;  // set once, before the command runs

int columns(int descriptor) {
  winsize size{};
  return ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

bool has_control_sequences() {
  const char* const term = std::getenv("TERM");
  return term && *term && std::string_view(term) != "dumb";
}

}  // namespace

int console_width() {
  const int width = is_terminal() ? columns(STDOUT_FILENO) : 0;
  return width > 0 ? width : kPipedWidth;
}

int message_width() { return isatty(STDERR_FILENO) == 1 ? columns(STDERR_FILENO) : 0; }

bool can_redraw() { return isatty(STDERR_FILENO) == 1 && has_control_sequences(); }

bool can_color() { return is_terminal() && has_control_sequences(); }

bool is_terminal() { return isatty(STDOUT_FILENO) == 1; }

void write_message(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stderr); }

void write_error(std::string_view text) { write_message("posbench: " + to_one_line(text) + "\n"); }

void write_note(std::string_view text) {
  if (!quiet) write_message(to_printable(text) + "\n");
}

std::string fit_line(const std::string& text) {
  constexpr int kIndent = 4;
  const int width = message_width();
  const bool fits = width == 0 || static_cast<int>(text.size()) <= width;
  return (fits ? text : indent_lines(wrap_text(text, 0, width - kIndent), kIndent)) + "\n";
}

void be_quiet() { quiet = true; }

bool is_quiet() { return quiet; }

}  // namespace posbench
