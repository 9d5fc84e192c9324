#include "results/types/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace posbench {
namespace {

bool has(const Json& json, const char* key, bool (Json::*is_type)() const noexcept) {
  return json.contains(key) && (json.at(key).*is_type)();
}

/// Calls `use` with the id and the JSON of each experiment in `timing`.
template <class Use>
void for_each_time(const Report& report, Use use) {
  const auto list = report.timing.find("experiments");
  if (list == report.timing.end() || !list->is_array()) return;
  for (const Json& time : *list) {
    if (!time.is_object() || !has(time, "task", &Json::is_string) || !has(time, "encoding", &Json::is_string) ||
        !has(time, "seed", &Json::is_number_unsigned)) {
      continue;
    }
    use(ExperimentId{time.at("task"), time.at("encoding"), time.at("seed")}, time);
  }
}

}  // namespace

const TaskBaseline* find_task(const Report& report, const std::string& task) {
  const auto found = std::ranges::find(report.tasks, task, &TaskBaseline::task);
  return found == report.tasks.end() ? nullptr : &*found;
}

const TaskBaseline& find_baseline(const Report& report, const std::string& task) {
  if (const TaskBaseline* found = find_task(report, task)) return *found;
  throw std::out_of_range(fmt::format("the report has no task '{}'", task));
}

bool same_splits(const TaskBaseline& a, const TaskBaseline& b) {
  return std::ranges::equal(a.splits, b.splits, [](const SplitBaseline& x, const SplitBaseline& y) {
    return x.name == y.name && x.kind == y.kind;
  });
}

std::vector<std::string> select_splits(const TaskBaseline& task, const std::string& name_or_kind) {
  std::vector<std::string> names;
  for (const SplitBaseline& split : task.splits) {
    if (split.name == name_or_kind || to_string(split.kind) == name_or_kind) names.push_back(split.name);
  }
  return names;
}

std::map<ExperimentId, double> read_seconds(const Report& report) {
  std::map<ExperimentId, double> seconds;
  for_each_time(report, [&](const ExperimentId& id, const Json& time) {
    if (!has(time, "seconds", &Json::is_number)) return;
    const double value = time.at("seconds");
    if (value >= 0 && value < 1e12) seconds[id] = value;
  });
  return seconds;
}

std::string commit_of(const Report& report) {
  return has(report.context, "commit", &Json::is_string) ? report.context.at("commit") : "unknown";
}

std::map<ExperimentId, std::string> read_commits(const Report& report) {
  const std::string own = commit_of(report);
  std::map<ExperimentId, std::string> commits;
  for (const ExperimentResult& result : report.experiments) commits[result.id] = own;
  for_each_time(report, [&](const ExperimentId& id, const Json& time) {
    if (has(time, kTrainedBy, &Json::is_string)) commits[id] = time.at(kTrainedBy);
  });
  return commits;
}

}  // namespace posbench
