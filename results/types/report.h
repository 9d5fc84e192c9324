// Defines the report of a run.
#pragma once
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "results/types/experiment_result.h"
#include "results/types/task_baseline.h"

namespace posbench {

using Json = nlohmann::ordered_json;

/// The member of an entry in `timing` of an experiment that was taken from another run: the commit that trained
/// it.
constexpr const char* kTrainedBy = "trained_by";

/// The member of `context` of a report on models that were trained by another program.
constexpr const char* kTrainedElsewhere = "trained_elsewhere";

struct Report {
  Json context = Json::object();  // machine, compiler, commit, ...: passed through
  Json config = Json::object();   // everything needed to repeat the run: passed through
  std::vector<TaskBaseline> tasks;
  std::vector<ExperimentResult> experiments;
  Json timing = Json::object();  // passed through
  std::string so_far;            // "10 of 18 experiments" of a run that has not finished; not in the JSON
  bool operator==(const Report&) const = default;
};

/// Returns the baselines of a task, or null if the report has no such task. The pointer is into Report::tasks.
const TaskBaseline* find_task(const Report&, const std::string& task);

/// Returns the baselines of a task. Throws std::out_of_range if the report has no such task.
const TaskBaseline& find_baseline(const Report&, const std::string& task);

/// Returns true if the splits of both have the same names and kinds, in the same order.
bool same_splits(const TaskBaseline&, const TaskBaseline&);

/// Returns the names of the splits with this name or of this kind: "ood_far", "out_of_distribution".
std::vector<std::string> select_splits(const TaskBaseline&, const std::string& name_or_kind);

/// Returns the seconds of each experiment. Skips entries of `timing` that have another form, since other programs
/// may have written them.
std::map<ExperimentId, double> read_seconds(const Report&);

/// Returns the commit of the program that wrote the report; "unknown" if it does not say.
std::string commit_of(const Report&);

/// Returns the commit that trained each experiment. It is that of the report, unless the experiment was taken from
/// another run.
std::map<ExperimentId, std::string> read_commits(const Report&);

/// A report and its name in messages: its file.
struct NamedReport {
  std::string name;
  const Report& report;
};

}  // namespace posbench
