#include "harness/runs/run_reader.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
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

/// Measures the baselines of these tasks in parallel.
std::vector<TaskBaseline> measure(const RunConfig& config, const std::vector<TaskSpec>& specs) {
  std::vector<TaskBaseline> measured(specs.size());
  parallel_for(specs.size(), count_cores(),
               [&](size_t n) { measured[n] = measure_baselines(setup_task(config, specs[n])); });
  return measured;
}

Report read_unfinished(const fs::path& path) {
  if (!fs::exists(path / kManifestFile) && !fs::exists(path / kMergedManifestFile)) {
    throw InputError(fmt::format(
        "{} has neither report.json nor manifest.json; expected a report, or a directory of 'posbench run'",
        path.string()));
  }
  RunRecord record = read_run(path);
  const RunConfig config = config_from_json(record.manifest.config, (path / kManifestFile).string() + ": config");
  std::set<std::string> with_results;
  for (const auto& [id, finished] : record.finished) with_results.insert(id.task);
  std::vector<TaskSpec> started;  // tasks with a finished experiment, in the order of the run
  for (const SweptTask& task : swept_tasks(config)) {
    if (with_results.contains(task.spec.text())) started.push_back(task.spec);
  }
  std::vector<TaskBaseline> tasks = measure(config, started);
  check_lines(record, path, tasks);
  Json context = record.manifest.context;
  const Shard shard = record.manifest.shard;
  if (shard.of > 1) context["shard"] = shard.text();
  return take_report(record, std::move(tasks), std::move(context));
}

}  // namespace

Report read_report_or_run(const fs::path& path) {
  return read_user_files([&] {
    if (!fs::is_directory(path)) return read_report(path);
    if (const fs::path report = find_report(path); !report.empty()) return read_report(report);
    return read_unfinished(path);
  });
}

}  // namespace posbench
