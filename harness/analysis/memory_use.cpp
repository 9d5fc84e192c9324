#include "harness/analysis/memory_use.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/system.h"

namespace posbench {
namespace {

/// Returns the most resident bytes since the last reset_peak_memory(), or 0 if the system has no figure.
std::int64_t peak_memory() {
  const std::string kilobytes = system_entry("/proc/self/status", "VmHWM");
  return kilobytes.empty() ? 0 : std::stoll(kilobytes) * 1024;
}

void reset_peak_memory() {
  try {
    write_file("/proc/self/clear_refs", "5");
  } catch (const FileError&) {  // this system cannot reset it
  }
}

std::int64_t memory_of(const std::function<void()>& f) {
  reset_peak_memory();
  const std::int64_t before = peak_memory();
  try {
    f();
  } catch (const std::exception&) {
    return 0;
  }
  return peak_memory() - before;
}

/// Ends the process if the reading end is closed.
void send(std::int64_t bytes, int to) {
  if (::write(to, &bytes, sizeof bytes) != sizeof bytes) _exit(1);
}

}  // namespace

MemoryUse::MemoryUse(const std::vector<std::function<void()>>& functions) {
  int ends[2];
  if (pipe(ends) != 0) return;
  child_ = fork();
  if (child_ == 0) {
    close(ends[0]);
    for (const std::function<void()>& f : functions) {
      const pid_t child = fork();
      if (child == 0) {
        send(memory_of(f), ends[1]);
        _exit(0);
      }
      int status = 0;
      const bool finished =
          child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
      if (!finished) send(0, ends[1]);
    }
    _exit(0);
  }
  close(ends[1]);
  results_ = ends[0];
}

MemoryUse::~MemoryUse() {
  if (results_ >= 0) close(results_);
  if (child_ > 0) waitpid(child_, nullptr, 0);
}

std::int64_t MemoryUse::next() {
  std::int64_t bytes = 0;
  if (results_ < 0 || ::read(results_, &bytes, sizeof bytes) != sizeof bytes) return 0;
  return bytes;
}

}  // namespace posbench
