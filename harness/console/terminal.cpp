#include "harness/console/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

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

}  // namespace posbench
