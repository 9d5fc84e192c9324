// Defines the report of a run.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "results/types/experiment_result.h"
#include "results/types/task_baseline.h"

namespace posbench {

using Json = nlohmann::ordered_json;

struct Report {
  Json context = Json::object();  // machine, compiler, commit, ...: passed through
  Json config = Json::object();   // everything needed to repeat the run: passed through
  std::vector<TaskBaseline> tasks;
  std::vector<ExperimentResult> experiments;
  Json timing = Json::object();  // passed through
  std::string so_far;            // "10 of 18 experiments" of a run that has not finished; not in the JSON
  bool operator==(const Report&) const = default;
};

/// Returns the baselines of a task. Throws std::out_of_range if the report has no such task.
const TaskBaseline& find_baseline(const Report&, const std::string& task);

/// A report and its name in messages: its file.
struct NamedReport {
  std::string name;
  const Report& report;
};

}  // namespace posbench
