#include "harness/runs/run_reader.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include "base/parallel_for.h"
#include "harness/runs/run_directory.h"
#include "harness/runs/suite.h"
#include "results/reports/report_json.h"

namespace posbench {
namespace {

namespace fs = std::filesystem;

std::uintmax_t size_of(const fs::path& path) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path, error);
  return error ? 0 : size;
}

/// The baselines of the tasks with these specs, measured side by side.
void measure(const Config& config, const std::vector<std::string>& specs, std::map<std::string, TaskBaseline>& baselines) {
  std::vector<TaskBaseline> measured(specs.size());
  parallel_for(specs.size(), all_cores(), [&](size_t n) { measured[n] = measure_baselines(setup_task(config, specs[n])); });
  for (TaskBaseline& baseline : measured) baselines[baseline.task] = std::move(baseline);
}

}  // namespace

Report RunReader::read() {
  try {
    read_ = sizes();
    if (!fs::is_directory(path_)) return read_report(path_);
    if (const fs::path report = find_report(path_); !report.empty()) return read_report(report);
    return read_unfinished();
  } catch (const std::runtime_error& error) {
    throw std::invalid_argument(error.what());
  }
}

bool RunReader::changed() const { return sizes() != read_; }

std::pair<std::uintmax_t, std::uintmax_t> RunReader::sizes() const {
  return {size_of(path_ / "experiments.jsonl"), size_of(path_ / "report.json")};
}

Report RunReader::read_unfinished() {
  if (!fs::exists(path_ / "manifest.json")) {
    throw std::invalid_argument(fmt::format(
        "{} has neither report.json nor manifest.json; expected a report, or a directory of 'posbench run'", path_.string()));
  }
  const RunRecord record = read_run(path_);
  const Config config = config_from_json(record.manifest.config, (path_ / "manifest.json").string() + ": config");
  std::set<std::string> begun;  // tasks with a finished experiment
  for (const auto& [id, finished] : record.finished) begun.insert(id.task);
  std::vector<std::string> open;
  for (const std::string& task : begun) {
    if (baselines_.count(task) == 0) open.push_back(task);
  }
  measure(config, open, baselines_);
  std::vector<TaskBaseline> tasks;
  for (const std::string& task : config.tasks) {
    if (begun.count(task) > 0) tasks.push_back(baselines_.at(task));
  }
  return fold(record, std::move(tasks), record.manifest.context);
}

}  // namespace posbench
