// Counts the cores that this process may use.
#pragma once
#include <filesystem>
#include <string>

namespace posbench {

/// The number of usable cores, from 1 on.
struct Cores {
  int count = 1;
  std::string limit;  // "the CPU affinity" or "the CPU quota of cgroup PATH"; empty: those of the machine
};

/// Returns the least of the hardware threads, the CPU affinity and the quotas of cgroups.
const Cores& usable_cores();

/// Returns " (1 core by the CPU affinity)"; "" without a limit.
std::string limit_text(const Cores&);

/// Returns these cores, or fewer if the cgroups of this process or those above them, of version 1 or 2, have a
/// quota of CPU time. Part of a core counts as one. `root` is where /proc and the mounted file systems are.
Cores limit_by_cgroups(Cores, const std::filesystem::path& root = "/");

}  // namespace posbench
