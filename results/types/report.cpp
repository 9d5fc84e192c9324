#include "results/types/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace posbench {

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
  const auto list = report.timing.find("experiments");
  if (list == report.timing.end() || !list->is_array()) return seconds;
  for (const Json& time : *list) {
    const auto is = [&](const char* key, auto test) { return time.contains(key) && (time.at(key).*test)(); };
    if (!time.is_object() || !is("task", &Json::is_string) || !is("encoding", &Json::is_string) ||
        !is("seed", &Json::is_number_unsigned) || !is("seconds", &Json::is_number)) {
      continue;
    }
    const double value = time.at("seconds");
    if (value >= 0 && value < 1e12) seconds[{time.at("task"), time.at("encoding"), time.at("seed")}] = value;
  }
  return seconds;
}

}  // namespace posbench
