#include "harness/console/standard_streams.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "harness/console/message.h"

namespace posbench {

void open_standard_descriptors() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(descriptor, F_GETFD) >= 0) continue;
    const int opened =
        open("/dev/null", descriptor == STDERR_FILENO ? O_WRONLY : O_RDONLY);  // gets the lowest free descriptor
    if (opened >= 0 && opened != descriptor) close(opened);
  }
}

bool flush_output() {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return true;
  write_error(fmt::format("cannot write to standard output{}{}", errno != 0 ? ": " : "",
                          errno != 0 ? std::strerror(errno) : ""));
  return false;
}

}  // namespace posbench
