#include "harness/console/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace posbench {
namespace {

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

}  // namespace posbench
