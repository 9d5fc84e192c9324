#include "base/system.h"

#include <ctime>
#include <filesystem>
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

}  // namespace

double thread_cpu_seconds() { return seconds(CLOCK_THREAD_CPUTIME_ID); }
double process_cpu_seconds() { return seconds(CLOCK_PROCESS_CPUTIME_ID); }

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
