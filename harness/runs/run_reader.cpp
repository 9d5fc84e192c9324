#include "harness/runs/run_reader.h"

#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/parallel_for.h"
#include "harness/config/experiment_config.h"
#include "harness/config/sweep.h"
#include "harness/config/user_files.h"
#include "harness/runs/run_record.h"
#include "harness/training/baselines.h"
#include "results/reports/report_json.h"

namespace posbench {
namespace {

namespace fs = std::filesystem;

std::uintmax_t size_of(const fs::path& path) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path, error);
  return error ? 0 : size;
}

/// Adds the baselines of tasks, measured in parallel.
void measure(const RunConfig& config, const std::vector<TaskSpec>& specs,
             std::map<std::string, TaskBaseline>& baselines) {
  std::vector<TaskBaseline> measured(specs.size());
  parallel_for(specs.size(), count_hardware_threads(),
               [&](size_t n) { measured[n] = measure_baselines(setup_task(config, specs[n])); });
  for (TaskBaseline& baseline : measured) baselines[baseline.task] = std::move(baseline);
}

}  // namespace

Report RunReader::read() {
  return read_user_files([&] {
    read_ = sizes();
    if (!fs::is_directory(path_)) return read_report(path_);
    if (const fs::path report = find_report(path_); !report.empty()) return read_report(report);
    return read_unfinished();
  });
}

bool RunReader::has_changed() const { return sizes() != read_; }

std::pair<std::uintmax_t, std::uintmax_t> RunReader::sizes() const {
  return {size_of(path_ / kLinesFile), size_of(path_ / kReportFile)};
}

Report RunReader::read_unfinished() {
  if (!fs::exists(path_ / kManifestFile)) {
    throw InputError(fmt::format(
        "{} has neither report.json nor manifest.json; expected a report, or a directory of 'posbench run'",
        path_.string()));
  }
  RunRecord record = read_run(path_);
  const RunConfig config = config_from_json(record.manifest.config, (path_ / kManifestFile).string() + ": config");
  std::set<std::string> started;  // tasks with a finished experiment
  for (const auto& [id, finished] : record.finished) started.insert(id.task);
  std::vector<std::string> shown;
  std::vector<TaskSpec> unmeasured;
  for (const SweptTask& task : swept_tasks(config)) {
    const std::string name = task.spec.text();
    if (!started.contains(name)) continue;
    shown.push_back(name);
    if (!baselines_.contains(name)) unmeasured.push_back(task.spec);
  }
  measure(config, unmeasured, baselines_);
  std::vector<TaskBaseline> tasks;
  for (const std::string& name : shown) tasks.push_back(baselines_.at(name));
  check_lines(record, path_, tasks);
  Json context = record.manifest.context;
  const Shard shard = record.manifest.shard;
  if (shard.of > 1) context["shard"] = shard.text();
  return take_report(record, std::move(tasks), std::move(context));
}

}  // namespace posbench
