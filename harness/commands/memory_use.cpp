#include "harness/commands/memory_use.h"

#include <sys/wait.h>
#include <unistd.h>

#include <exception>
#include <fstream>
#include <string>

namespace posbench {
namespace {

/// Bytes resident at most since the last reset_peak_memory(); 0 where the system does not say.
std::int64_t peak_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stoll(line.substr(6)) * 1024;
  }
  return 0;
}

void reset_peak_memory() { std::ofstream("/proc/self/clear_refs") << "5"; }

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

/// Writes all of it; ends the process if the reading end is closed.
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
      const pid_t own = fork();
      if (own == 0) {
        send(memory_of(f), ends[1]);
        _exit(0);
      }
      int status = 0;
      const bool finished = own > 0 && waitpid(own, &status, 0) == own && WIFEXITED(status) && WEXITSTATUS(status) == 0;
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
