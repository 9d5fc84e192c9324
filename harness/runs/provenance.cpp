#include "harness/runs/provenance.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#ifdef __APPLE__
#include <sys/sysctl.h>
#endif

#include <Eigen/Core>
#include <ctime>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/cores.h"
#include "base/printable.h"
#include "base/system.h"
#include "harness/config/build.h"
#include "harness/config/commit.h"
#include "harness/exchange/plugins.h"
#include "model/kernels.h"

namespace posbench {
namespace {

std::string host() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "unknown";
}

std::string cpu() {
#ifdef __APPLE__
  char brand[256] = {};
  size_t size = sizeof brand - 1;
  if (sysctlbyname("machdep.cpu.brand_string", brand, &size, nullptr, 0) == 0) return brand;
#endif
  const std::string name = system_entry("/proc/cpuinfo", "model name");
  return name.empty() ? "unknown" : name;
}

/// Returns the plug-ins by the names of their files. Other files of the same name also have their checksum there.
Json loaded_plugins() {
  Json loaded = Json::object();
  for (const Plugin& plugin : plugins()) {
    const std::string name = loaded.contains(plugin.file) ? plugin.file + " " + plugin.sha256 : plugin.file;
    loaded[name] = {{"sha256", plugin.sha256}, {"encodings", plugin.encodings}, {"tasks", plugin.tasks}};
  }
  return loaded;
}

}  // namespace

std::string timestamp() { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))); }

std::string version() {
  return fmt::format("posbench {} (commit {}; {}; {}; instruction set {})", kBuildVersion, kBuildCommit,
                     kBuildCompiler, kBuildFlags, instruction_set());
}

std::string citation() {
  return fmt::format(
      "@software{{posbench,\n"
      "  title = {{posbench: a benchmark suite for position encodings of transformers}},\n"
      "  author = {{{{The posbench maintainers}}}},\n"
      "  year = {{2026}},\n"
      "  version = {{{}, commit {}}}\n"
      "}}\n",
      kBuildVersion, kBuildCommit);
}

Json provenance(const std::vector<std::string>& command) {
  Json context = {
      {"host", host()},
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
      {"command", to_valid_utf8(fmt::format("{}", fmt::join(command, " ")))}};
  if (const Cores& cores = usable_cores(); !cores.limit.empty())
    context["usable_cores"] = {{"count", cores.count}, {"limit", cores.limit}};
  if (Json loaded = loaded_plugins(); !loaded.empty()) context["plugins"] = std::move(loaded);
  return context;
}

std::string missing_plugin(const Json& context) {
  const Json used = context.value("plugins", Json::object()), loaded = loaded_plugins();
  for (const auto& [file, plugin] : used.items()) {
    if (!loaded.contains(file) || loaded.at(file) != plugin) return file;
  }
  return "";
}

}  // namespace posbench
