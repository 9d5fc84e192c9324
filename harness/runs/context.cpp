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

#include "base/printable.h"
#include "harness/runs/build.h"
#include "harness/runs/commit.h"
#include "harness/runs/plugins.h"
#include "model/kernels.h"

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
  return fmt::format("posbench {} (commit {}; {}; {}; instruction set {})", kBuildVersion, kBuildCommit, kBuildCompiler,
                     kBuildFlags, instruction_set());
}

Json context(const std::vector<std::string>& command) {
  Json context = {{"host", host()},
          {"cpu", cpu()},
          {"instruction_set", instruction_set()},
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
          {"command", valid_utf8(fmt::format("{}", fmt::join(command, " ")))}};
  for (const Plugin& plugin : plugins()) {
    Json& named = context["plugins"];
    const std::string name = named.contains(plugin.file) ? plugin.file + " " + plugin.sha256 : plugin.file;
    named[name] = {{"sha256", plugin.sha256}, {"encodings", plugin.encodings}, {"tasks", plugin.tasks}};
  }
  return context;
}

}  // namespace posbench
