// The report of a run (design, section 9): a type, and its JSON.
#pragma once
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "results/experiment_result.h"
#include "results/json.h"

namespace posbench {

constexpr int kSchemaVersion = 1;

/// What can be had without reading the question.
struct SplitBaseline {
  std::string name;
  SplitKind kind = SplitKind::in_distribution;
  double chance = 0;                      // token accuracy of a uniform guess among the possible answers
  std::map<std::string, double> trivial;  // token accuracy, measured, by predictor: constant, last_token, position
  bool operator==(const SplitBaseline&) const = default;
};

struct TaskBaseline {
  std::string task;  // its spec
  int version = 1;
  std::vector<SplitBaseline> splits;  // in_distribution first
  bool operator==(const TaskBaseline&) const = default;
};

struct Report {
  Json context = Json::object();  // machine, compiler, commit, ...: passed through
  Json config = Json::object();   // everything needed to repeat the run: passed through
  std::vector<TaskBaseline> tasks;
  std::vector<ExperimentResult> experiments;
  Json timing = Json::object();  // passed through
  bool operator==(const Report&) const = default;
};

/// The summary is worked out from the experiments as the JSON is written, and is not read back.
Json to_json(const Report&);

/// Strict where meaning could be lost, tolerant of unknown fields. Throws std::runtime_error with one line that
/// names the file and the place in it.
Report report_from_json(const Json&, const std::string& file);
Report read_report(const std::filesystem::path&);

/// The task's baselines; throws std::out_of_range where the report has no such task.
const TaskBaseline& baseline(const Report&, const std::string& task);

}  // namespace posbench
