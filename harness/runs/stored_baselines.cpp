#include "harness/runs/stored_baselines.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "harness/config/embedded_data.h"
#include "results/reports/report_json.h"
#include "results/statistics/comparable.h"

namespace posbench {
namespace {

using Cell = std::pair<std::string, std::string>;  // a task and an encoding

struct Search {
  StoredBaselines found;
  std::set<Cell> missing;
  std::map<Cell, std::string> refusals;  // of results with other settings
};

/// Takes the missing experiments of a task from a stored report, if they are comparable.
void take(const NamedReport& stored, const TaskBaseline& task, const NamedReport& mine,
          bool allow_different_budget, Search& search) {
  Report part{.context = stored.report.context, .config = stored.report.config, .tasks = {task}};
  for (const ExperimentResult& e : stored.report.experiments) {
    if (e.id.task == task.task && search.missing.contains({e.id.task, e.id.encoding}))
      part.experiments.push_back(e);
  }
  if (part.experiments.empty()) return;
  Report& to = search.found.report;
  std::vector<std::string>& warnings = search.found.warnings;
  try {
    for (const std::string& warning : check_comparable({stored.name, part}, mine, allow_different_budget)) {
      if (std::ranges::find(warnings, warning) == warnings.end()) warnings.push_back(warning);
    }
  } catch (const InputError& error) {
    for (const ExperimentResult& e : part.experiments)
      search.refusals.emplace(Cell{e.id.task, e.id.encoding}, error.what());
    return;
  }
  if (!find_task(to, task.task)) to.tasks.push_back(task);
  for (const ExperimentResult& e : part.experiments) {
    search.missing.erase({e.id.task, e.id.encoding});
    to.experiments.push_back(e);
  }
}

}  // namespace

StoredBaselines find_stored(const NamedReport& mine, const std::vector<std::string>& encodings,
                            bool allow_different_budget) {
  Search search;
  search.found.report = {.context = mine.report.context, .config = mine.report.config, .timing = Json::object()};
  for (const ExperimentResult& experiment : mine.report.experiments) {
    for (const std::string& encoding : encodings) search.missing.insert({experiment.id.task, encoding});
  }
  std::vector<std::string> names{"presets"};  // of files
  for (const std::string& encoding : encodings) names.push_back(spec_name(encoding));
  for (const auto& [name, stored] : board_reports(names)) {
    for (const TaskBaseline& task : stored.tasks) {
      if (find_task(mine.report, task.task)) take({name, stored}, task, mine, allow_different_budget, search);
    }
  }
  for (const auto& [task, encoding] : search.missing) {
    const auto refusal = search.refusals.find({task, encoding});
    search.found.warnings.push_back(
        refusal != search.refusals.end()
            ? refusal->second
            : fmt::format(
                  "the stored reports have no result of '{0}' on '{1}'; 'posbench run -e {0} -t {1}' makes one",
                  encoding, task));
  }
  if (search.found.report.experiments.empty())
    throw InputError(search.found.warnings.empty() ? mine.name + ": no experiment is finished"
                                                   : search.found.warnings.front());
  return std::move(search.found);
}

}  // namespace posbench
