#include "harness/runs/reuse.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
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

/// A run that may give experiments.
struct OtherRun {
  std::string name;
  Report report;
  Suite suite;
  std::map<ExperimentId, const Experiment*> experiments = {};    // of the suite
  std::map<ExperimentId, const ExperimentResult*> results = {};  // of the report
};

OtherRun read_other_run(const fs::path& path) {
  const std::string name = to_printable(path.string());
  Report report = read_report_or_run(path);
  check_origin(name, report);
  Suite suite = make_suite(config_from_json(report.config, name + ": config"));
  OtherRun run{.name = name, .report = std::move(report), .suite = std::move(suite)};
  for (const Experiment& e : run.suite.experiments) {
    for (ExperimentId& id : e.ids()) run.experiments.emplace(std::move(id), &e);
  }
  for (const ExperimentResult& result : run.report.experiments) {
    if (!run.experiments.contains(result.id)) {
      throw InputError(
          fmt::format("{}: experiment '{} on {} with seed {}' is not in the report's config; expected "
                      "the unchanged report of a run",
                      name, result.id.encoding, result.id.task, result.id.seed));
    }
    run.results.emplace(result.id, &result);
  }
  return run;
}

bool has_splits_of(const ExperimentResult& result, const TaskSetup& task) {
  return std::ranges::equal(result.splits, task.splits, [](const SplitResult& a, const TaskInfo::Split& b) {
    return a.name == b.name && a.kind == kind(b);
  });
}

/// Returns why the run cannot give this experiment, of which it has a result; "" if it can.
std::string why_not(const Experiment& e, const OtherRun& run) {
  const std::string other = difference(to_json(config_of(*run.experiments.at(e.id()))), to_json(config_of(e)));
  if (!other.empty()) return other;
  for (const ExperimentId& id : e.ids()) {
    const auto found = run.results.find(id);
    if (found == run.results.end()) return "its extensions are not finished";
    const ExperimentResult& result = *found->second;
    if (result.status != Status::ok) return "its experiments diverged or failed";
    if (result.task_version != e.task->info->version)
      return fmt::format("task '{}' had version {} and now has {}", e.task->info->name, result.task_version,
                         e.task->info->version);
    if (!has_splits_of(result, *e.task)) return fmt::format("task '{}' has other splits now", e.task->info->name);
  }
  return "";
}

/// Returns what the run gives, with the point of the sweep that the experiment has now.
std::vector<FinishedExperiment> take(const Experiment& e, const OtherRun& run,
                                     const std::map<ExperimentId, double>& seconds,
                                     const std::map<ExperimentId, std::string>& commits) {
  std::vector<FinishedExperiment> taken;
  for (const ExperimentId& id : e.ids()) {
    const auto time = seconds.find(id);
    FinishedExperiment finished{.result = *run.results.at(id),
                                .seconds = time == seconds.end() ? 0 : time->second,
                                .trained_by = commits.at(id)};
    finished.result.swept = e.swept;
    if (e.swept && !taken.empty())
      finished.result.swept->encoding = e.extensions[taken.size() - 1].label(e.swept->encoding);
    taken.push_back(std::move(finished));
  }
  return taken;
}

}  // namespace

void check_origin(const std::string& name, const Report& report) {
  const auto is_described = [](const ExperimentResult& result) { return !result.description.empty(); };
  if (report.context.contains(kTrainedElsewhere) || !report.config.contains("model") ||
      !report.config.contains("training") || std::ranges::any_of(report.experiments, is_described)) {
    throw InputError(
        fmt::format("{} is not the report of a run: its models were trained elsewhere "
                    "('posbench check REPORT --source FILE' trains those of posbench.torch again)",
                    name));
  }
  if (const std::string file = missing_plugin(report.context); !file.empty()) {
    throw InputError(fmt::format("{} was trained with the plug-in {}; load the same file with --plugin PATH", name,
                                 to_printable(file)));
  }
}

ReusedResults read_reusable(const Suite& suite, const std::vector<fs::path>& runs) {
  ReusedResults reused;
  const size_t all = ids(suite.experiments).size();
  for (const fs::path& path : runs) {
    const OtherRun run = read_other_run(path);
    const std::map<ExperimentId, double> seconds = read_seconds(run.report);
    const std::map<ExperimentId, std::string> commits = read_commits(run.report);
    size_t count = 0;
    bool gives_some = false;
    std::set<std::string> trained_by;
    std::string reason =
        run.results.empty() ? "it has no finished experiment" : "it has other tasks, encodings or seeds";
    for (const Experiment& e : suite.experiments) {
      if (!run.results.contains(e.id())) continue;
      if (const std::string why = why_not(e, run); !why.empty()) {
        reason = why;
        continue;
      }
      gives_some = true;
      if (reused.finished.contains(e.id())) continue;
      for (FinishedExperiment& finished : take(e, run, seconds, commits)) {
        ++count;
        trained_by.insert(finished.trained_by);
        reused.finished.emplace(finished.result.id, std::move(finished));
      }
    }
    if (!gives_some) {
      reused.useless.push_back(fmt::format("{} has no experiment of this run: {}", run.name, reason));
    } else {
      reused.notes.push_back(fmt::format("{} gives {} of {} experiments", run.name, count, all));
      if (!trained_by.empty())
        reused.notes.back() += fmt::format(", trained by commit {}", fmt::join(trained_by, ", "));
    }
  }
  return reused;
}

void leave_out_reused(Suite& suite, const ReusedResults& reused) {
  std::erase_if(suite.experiments, [&](const Experiment& e) { return reused.finished.contains(e.id()); });
  remove_unused_tuning(suite);
}

}  // namespace posbench
