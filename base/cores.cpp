#include "base/cores.h"

#include <fmt/format.h>

#ifdef __linux__
#include <sched.h>
#endif

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"

namespace posbench {
namespace {

/// Returns a text, without its line end; empty if there is no file.
std::string text_of(const std::filesystem::path& path) {
  try {
    std::string text = read_file(path);
    while (text.ends_with('\n')) text.pop_back();
    return text;
  } catch (const FileError&) {
    return "";
  }
}

/// Returns how many cores a cgroup may use; nothing without a quota. Version 2 has "QUOTA PERIOD" in one file.
std::optional<double> quota_of(const std::filesystem::path& cgroup, bool is_v2) {
  const std::string text =
      is_v2 ? text_of(cgroup / "cpu.max")
            : text_of(cgroup / "cpu.cfs_quota_us") + " " + text_of(cgroup / "cpu.cfs_period_us");
  double quota = 0, period = 0;
  std::istringstream numbers(text);
  if (!(numbers >> quota >> period) || quota <= 0 || period <= 0) return std::nullopt;  // "max", -1
  return quota / period;
}

bool has_item(const std::string& list, const std::string& item) {
  return ("," + list + ",").find("," + item + ",") != list.npos;
}

/// Returns the path of this process's cgroup: of version 2, or of version 1 with a quota of CPU time.
std::optional<std::string> cgroup_path(const std::filesystem::path& root, bool is_v2) {
  std::istringstream lines(text_of(root / "proc/self/cgroup"));
  for (std::string line; std::getline(lines, line);) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == line.npos || second == line.npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (is_v2 ? controllers.empty() : has_item(controllers, "cpu")) return line.substr(second + 1);
  }
  return std::nullopt;
}

Cores limit_by_cgroups(Cores cores, const std::filesystem::path& root, bool is_v2) {
  const std::optional<std::string> path = cgroup_path(root, is_v2);
  if (!path) return cores;
  std::istringstream lines(text_of(root / "proc/self/mountinfo"));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream front(line);
    std::string skipped, mounted, place, type, source, options;
    front >> skipped >> skipped >> skipped >> mounted >> place;  // mounted: the cgroup that is seen at `place`
    const size_t separator = line.find(" - ");
    if (!front || separator == line.npos) continue;
    std::istringstream back(line.substr(separator + 3));
    back >> type >> source >> options;
    if (is_v2 ? type != "cgroup2" : type != "cgroup" || !has_item(options, "cpu")) continue;
    const std::filesystem::path top = root / place.substr(1);
    std::filesystem::path below = std::filesystem::path(*path).lexically_relative(mounted);
    if (below.empty() || *below.begin() == "..") below = ".";  // a container sees its cgroup at the top
    for (below = (top / below).lexically_normal();; below = below.parent_path()) {
      const std::optional<double> quota = quota_of(below, is_v2);
      if (quota && std::ceil(*quota) < cores.count) {
        const std::string name = "/" + below.lexically_relative(top).string();
        cores = {std::max(1, static_cast<int>(std::ceil(*quota))),
                 "the CPU quota of cgroup " + (name == "/." ? "/" : name)};
      }
      if (below.lexically_relative(top) == "." || below == below.parent_path()) break;
    }
  }
  return cores;
}

Cores measure_cores() {
  Cores cores{static_cast<int>(std::max(1u, std::thread::hardware_concurrency())), ""};
#ifdef __linux__
  for (int most = 1024; most <= 1 << 20; most *= 2) {  // a set that is too small for the machine is refused
    cpu_set_t* set = CPU_ALLOC(most);
    if (set == nullptr) break;
    const bool known = sched_getaffinity(0, CPU_ALLOC_SIZE(most), set) == 0;
    const int count = known ? CPU_COUNT_S(CPU_ALLOC_SIZE(most), set) : 0;
    CPU_FREE(set);
    if (known && count > 0 && count < cores.count) cores = {count, "the CPU affinity"};
    if (known) break;
  }
#endif
  return limit_by_cgroups(std::move(cores));
}

}  // namespace

Cores limit_by_cgroups(Cores cores, const std::filesystem::path& root) {
  return limit_by_cgroups(limit_by_cgroups(std::move(cores), root, false), root, true);
}

std::string limit_text(const Cores& cores) {
  if (cores.limit.empty()) return "";
  return fmt::format(" ({} by {})", counted(static_cast<size_t>(cores.count), "core"), cores.limit);
}

const Cores& usable_cores() {
  static const Cores cores = measure_cores();
  return cores;
}

}  // namespace posbench
