#include "results/presentation/merged_report.h"

#include <fmt/format.h>

#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/printable.h"
#include "results/statistics/comparable.h"

namespace posbench {
namespace {

void add_tasks(const NamedReport& run, Report& all) {
  for (const TaskBaseline& task : run.report.tasks) {
    const TaskBaseline* known = find_task(all, task.task);
    if (!known) {
      all.tasks.push_back(task);
    } else if (!same_splits(task, *known)) {
      throw InputError(to_printable(
          fmt::format("{}: task '{}' has other splits than in a run before it; report the runs one by one",
                      run.name, task.task)));
    }
  }
}

/// Counts the runs in which each encoding occurs.
std::map<std::string, int> count_runs(std::span<const NamedReport> runs) {
  std::map<std::string, int> counts;
  for (const NamedReport& run : runs) {
    std::set<std::string> encodings;
    for (const ExperimentResult& experiment : run.report.experiments) encodings.insert(experiment.id.encoding);
    for (const std::string& encoding : encodings) ++counts[encoding];
  }
  return counts;
}

/// Adds the experiments of a run. An encoding of several runs is named with its run.
void add_run(const NamedReport& run, const std::map<std::string, int>& counts, std::set<ExperimentId>& seen,
             Report& all) {
  add_tasks(run, all);
  for (ExperimentResult experiment : run.report.experiments) {
    const std::string name = counts.at(experiment.id.encoding) == 1
                                 ? experiment.id.encoding
                                 : fmt::format("{} ({})", experiment.id.encoding, run.name);
    if (experiment.swept && name != experiment.id.encoding)
      experiment.swept->encoding = fmt::format("{} ({})", experiment.swept->encoding, run.name);
    experiment.id.encoding = name;
    if (!seen.insert(experiment.id).second) {
      throw InputError(
          to_printable(fmt::format("{}: '{}' on '{}' is also in an earlier run under the same name; "
                                   "give each run once",
                                   run.name, name, experiment.id.task)));
    }
    all.experiments.push_back(std::move(experiment));
  }
}

}  // namespace

MergedReport merge_reports(std::span<const NamedReport> runs) {
  std::vector<std::string> warnings;
  for (const NamedReport& run : runs) {
    for (std::string& warning : check_comparable(runs.front(), run, /*allow_different_budget=*/true)) {
      warnings.push_back(std::move(warning));
    }
    if (!run.report.so_far.empty()) warnings.push_back(fmt::format("{}: {}", run.name, run.report.so_far));
  }
  if (runs.size() == 1) return {.joined = nullptr, .report = runs.front().report, .warnings = std::move(warnings)};
  auto joined = std::make_unique<Report>();
  const std::map<std::string, int> counts = count_runs(runs);
  std::set<ExperimentId> seen;
  for (const NamedReport& run : runs) add_run(run, counts, seen, *joined);
  const Report& report = *joined;
  return {.joined = std::move(joined), .report = report, .warnings = std::move(warnings)};
}

}  // namespace posbench
