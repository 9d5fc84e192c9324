#include "harness/runs/reuse.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/printable.h"
#include "harness/config/experiment_config.h"
#include "harness/runs/provenance.h"
#include "harness/runs/run_directory.h"
#include "harness/runs/run_reader.h"

namespace posbench {
namespace {

namespace fs = std::filesystem;

/// Returns the experiments with each result id, and their settings.
std::map<ExperimentId, Json> settings_of(const Suite& suite) {
  std::map<ExperimentId, Json> settings;
  for (const Experiment& e : suite.experiments) {
    const Json config = to_json(config_of(e));
    for (const ExperimentId& id : e.ids()) settings.emplace(id, config);
  }
  return settings;
}

/// Throws InputError if the run used a plug-in that is not loaded, or another version of it.
void require_plugins(const std::string& name, const Report& report, const Json& loaded) {
  const Json used = report.context.value("plugins", Json::object());
  for (const auto& [file, plugin] : used.items()) {
    if (loaded.contains(file) && loaded.at(file) == plugin) continue;
    throw InputError(
        fmt::format("--reuse: {} was trained with the plug-in {}; load the same file with --plugin PATH", name,
                    to_printable(file)));
  }
}

}  // namespace

ReusedResults read_reusable(const Suite& suite, const std::vector<fs::path>& runs) {
  ReusedResults reused;
  if (runs.empty()) return reused;
  std::map<ExperimentId, int> versions;
  for (const Experiment& e : suite.experiments) {
    for (const ExperimentId& id : e.ids()) versions[id] = e.task->info->version;
  }
  const std::map<ExperimentId, Json> wanted = settings_of(suite);
  const Json plugins = provenance({}).value("plugins", Json::object());
  for (const fs::path& path : runs) {
    const std::string name = to_printable(path.string());
    const Report report = RunReader(path).read();
    require_plugins(name, report, plugins);
    const std::map<ExperimentId, Json> settings =
        settings_of(make_suite(config_from_json(report.config, name + ": config")));
    const std::map<ExperimentId, std::string> commits = read_commits(report);
    std::map<ExperimentId, double> seconds = read_seconds(report);
    size_t taken = 0;
    std::string reason = "tasks, encodings or seeds are others";
    for (const ExperimentResult& result : report.experiments) {
      const auto same = wanted.find(result.id);
      if (same == wanted.end() || result.status != Status::ok) continue;
      const std::string other = difference(settings.at(result.id), same->second);
      if (!other.empty() || result.task_version != versions.at(result.id)) {
        reason = other.empty() ? "the task has another version" : other;
        continue;
      }
      ++taken;
      reused.finished.try_emplace(
          result.id, FinishedExperiment{
                         .result = result, .seconds = seconds[result.id], .trained_by = commits.at(result.id)});
    }
    if (taken == 0) throw InputError(fmt::format("--reuse: {} has no experiment of this run: {}", name, reason));
    reused.notes.push_back(fmt::format("{} of {} experiments are taken from {}", taken, wanted.size(), name));
  }
  return reused;
}

void leave_out_finished(Suite& suite, const ReusedResults& reused) {
  std::erase_if(suite.experiments, [&](const Experiment& e) {
    return std::ranges::all_of(e.ids(), [&](const ExperimentId& id) { return reused.finished.contains(id); });
  });
}

}  // namespace posbench
