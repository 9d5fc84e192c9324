#include "base/cores.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "base/parallel_for.h"
#include "tests/catch.h"
#include "tests/temporary.h"

using namespace posbench;

namespace {

using Files = std::vector<std::pair<std::string, std::string>>;

/// Returns "COUNT LIMIT" for a machine of 128 cores whose /proc and /sys have these files.
std::string cores_of(const Files& files) {
  const TemporaryDirectory root;
  for (const auto& [name, text] : files) {
    std::filesystem::create_directories((root / name).parent_path());
    std::ofstream(root / name) << text << '\n';
  }
  const Cores cores = limit_by_cgroups({.count = 128, .limit = ""}, root / "");
  return std::to_string(cores.count) + " " + cores.limit;
}

const std::string kV2 = "30 1 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate";
const std::string kV1 = "33 25 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct";

}  // namespace

TEST_CASE("the usable cores are the least quota of the cgroups of a process and of those above them") {
  CHECK(cores_of({}) == "128 ");
  const Files v2{{"proc/self/cgroup", "0::/a/b"}, {"proc/self/mountinfo", kV2}};
  const auto with = [](Files files, const Files& more) {
    files.insert(files.end(), more.begin(), more.end());
    return cores_of(files);
  };
  CHECK(with(v2, {{"sys/fs/cgroup/a/b/cpu.max", "max 100000"}}) == "128 ");
  CHECK(with(v2, {{"sys/fs/cgroup/a/b/cpu.max", "400000 100000"}}) == "4 the CPU quota of cgroup /a/b");
  CHECK(with(v2, {{"sys/fs/cgroup/a/b/cpu.max", "400000 100000"}, {"sys/fs/cgroup/a/cpu.max", "150000 100000"}}) ==
        "2 the CPU quota of cgroup /a");
  CHECK(with(v2, {{"sys/fs/cgroup/a/b/cpu.max", "100 100000"}}) == "1 the CPU quota of cgroup /a/b");
  CHECK(with(v2, {{"sys/fs/cgroup/a/b/cpu.max", "25600000 100000"}}) == "128 ");
  // A container sees its own cgroup at the top.
  CHECK(cores_of({{"proc/self/cgroup", "0::/"},
                  {"proc/self/mountinfo", kV2},
                  {"sys/fs/cgroup/cpu.max", "300000 100000"}}) == "3 the CPU quota of cgroup /");

  const Files v1{{"proc/self/cgroup", "9:cpuset:/x\n4:cpu,cpuacct:/docker/c\n0::/"}};
  const Files quota{{"sys/fs/cgroup/cpu,cpuacct/docker/c/cpu.cfs_quota_us", "250000"},
                    {"sys/fs/cgroup/cpu,cpuacct/docker/c/cpu.cfs_period_us", "100000"},
                    {"sys/fs/cgroup/cpu,cpuacct/docker/cpu.cfs_quota_us", "-1"},
                    {"sys/fs/cgroup/cpu,cpuacct/docker/cpu.cfs_period_us", "100000"}};
  Files all = quota;
  all.emplace_back("proc/self/mountinfo", kV1 + "\n" + kV2);
  CHECK(with(v1, all) == "3 the CPU quota of cgroup /docker/c");
  // The mount of a container begins at its cgroup, which /proc names as the machine does, or as seen from another.
  for (const std::string path : {"/docker/c", "/docker/other"}) {
    CHECK(cores_of({{"proc/self/cgroup", "9:cpuset:/x\n4:cpu,cpuacct:" + path},
                    {"proc/self/mountinfo",
                     "33 25 0:29 /docker/c /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpuacct,cpu"},
                    {"sys/fs/cgroup/cpu/cpu.cfs_quota_us", "50000"},
                    {"sys/fs/cgroup/cpu/cpu.cfs_period_us", "50000"}}) == "1 the CPU quota of cgroup /");
  }
}

TEST_CASE("a loop uses the usable cores by default") {
  CHECK(count_cores() == usable_cores().count);
  CHECK(usable_cores().count >= 1);
  CHECK(limit_text({.count = 1, .limit = "the CPU affinity"}) == " (1 core by the CPU affinity)");
  CHECK(limit_text({.count = 3, .limit = ""}).empty());
}
