#include "base/system.h"

#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <exception>
#include <filesystem>
#include <new>
#include <sstream>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/file.h"

namespace posbench {
namespace {

double seconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

const std::terminate_handler default_terminate = std::get_terminate();

/// Allocates nothing if memory has run out. Any other cause is a defect.
[[noreturn]] void on_terminate() {
  const auto end_with = [](const char* message) {
    for (const char* text : {"posbench: ", message, "\n"}) {
      if (::write(STDERR_FILENO, text, std::strlen(text)) < 0) break;
    }
    std::_Exit(1);
  };
  try {
    if (const std::exception_ptr cause = std::current_exception()) std::rethrow_exception(cause);
  } catch (const std::bad_alloc&) {
    end_with(kOutOfMemory);
  } catch (const FileError& error) {
    if (error.error() == ENOMEM) end_with(error.what());  // refuse_memory()
    default_terminate();
  } catch (...) {
    default_terminate();
  }
  std::abort();
}

}  // namespace

void explain_termination() { std::set_terminate(on_terminate); }

double thread_cpu_seconds() { return seconds(CLOCK_THREAD_CPUTIME_ID); }

void check_cpu_clock() {
  constexpr int kLong = 100'000'000;  // steps, much longer than a tick of any clock
  const double start = thread_cpu_seconds();
  volatile int work = 0;
  for (int step = 0; step < kLong; ++step) {
    work = step;
    if (work % 1000 == 0 && thread_cpu_seconds() > start) return;
  }
  throw FileError("the CPU clock of this system stands still, so that no time can be measured");
}

bool has_stack() {
  constexpr rlim_t kLeast = rlim_t{256} << 10;
  constexpr std::string_view kMessage =
      "posbench: the stack is limited to less than 256 kB, which is too little; raise the limit, as in "
      "'ulimit -s 8192'\n";
  rlimit limit{};
  if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= kLeast) return true;
  return write(STDERR_FILENO, kMessage.data(), kMessage.size()) < 0;
}

std::string system_entry(const std::filesystem::path& path, std::string_view name) {
  try {
    std::istringstream lines(read_file(path));
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with(name)) continue;
      const size_t colon = line.find(':');
      const size_t value = colon == line.npos ? line.npos : line.find_first_not_of(" \t", colon + 1);
      if (value != line.npos) return line.substr(value);
    }
  } catch (const FileError&) {  // this system has no such file
  }
  return "";
}

}  // namespace posbench
