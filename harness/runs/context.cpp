#include "harness/runs/context.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <Eigen/Core>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "harness/runs/build.h"

namespace posbench {
namespace {

std::string host() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "unknown";
}

std::string cpu() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "unknown";
}

}  // namespace

std::string timestamp() { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))); }

std::string version() {
  return fmt::format("posbench {} (commit {}; {}; {})", kBuildVersion, kBuildCommit, kBuildCompiler, kBuildFlags);
}

Json context(const std::vector<std::string>& command) {
  return {{"host", host()},
          {"cpu", cpu()},
          {"cores", std::thread::hardware_concurrency()},
          {"compiler", kBuildCompiler},
          {"flags", kBuildFlags},
          {"commit", kBuildCommit},
          {"versions",
           {{"posbench", kBuildVersion},
            {"eigen", fmt::format("{}.{}.{}", EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION)},
            {"fmt", fmt::format("{}.{}.{}", FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100)},
            {"nlohmann_json", fmt::format("{}.{}.{}", NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR,
                                          NLOHMANN_JSON_VERSION_PATCH)}}},
          {"started", timestamp()},
          {"command", fmt::format("{}", fmt::join(command, " "))}};
}

}  // namespace posbench
