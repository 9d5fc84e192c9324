#include "results/statistics/comparable.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/printable.h"
#include "base/text.h"
#include "results/json/difference.h"

namespace posbench {
namespace {

/// Returns for each difference "config.training.steps is 1500 in a.json and 3000 in b.json".
std::vector<std::string> texts(const std::vector<JsonDifference>& differences, const NamedReport& a,
                               const NamedReport& b) {
  std::vector<std::string> texts;
  for (const JsonDifference& found : differences) {
    texts.push_back(
        fmt::format("{} is {} in {} and {} in {}", found.path, found.first, a.name, found.second, b.name));
  }
  return texts;
}

[[noreturn]] void refuse(const NamedReport& baseline, const NamedReport& candidate, const std::string& why) {
  throw InputError(
      to_printable(fmt::format("{} and {} cannot be compared: {}", baseline.name, candidate.name, why)));
}

void check_versions(const NamedReport& baseline, const NamedReport& candidate) {
  for (const TaskBaseline& task : baseline.report.tasks) {
    const TaskBaseline* other = find_task(candidate.report, task.task);
    if (!other || other->version == task.version) continue;
    refuse(baseline, candidate,
           fmt::format("task '{}' has version {} in the first and {} in the second, so its samples "
                       "are others",
                       task.task, task.version, other->version));
  }
}

/// Returns the tasks that both reports have, by their specs and by their names without options.
std::set<std::string> common_tasks(const NamedReport& a, const NamedReport& b) {
  std::set<std::string> names;
  for (const TaskBaseline& task : a.report.tasks) {
    if (find_task(b.report, task.task)) names.insert({task.task, spec_name(task.task)});
  }
  return names;
}

const Json& member(const Json& json, std::string_view key) {
  static const Json kNone = Json::object();
  const auto found = json.find(std::string(key));
  return found != json.end() && found->is_object() ? *found : kNone;
}

constexpr const char* kReserve = "config.training.reserve";

/// Returns the differences of the budgets.
std::vector<JsonDifference> budget_differences(const NamedReport& baseline, const NamedReport& candidate) {
  const Json &a = baseline.report.config, &b = candidate.report.config;
  std::vector<JsonDifference> all;
  const auto add = [&](const Json& first, const Json& second, const std::string& key, const std::string& path) {
    std::ranges::move(member_differences(first, second, key, path), std::back_inserter(all));
  };
  for (const char* section : {"model", "training", "match_compute"}) add(a, b, section, "config");
  // It changes a tenth of the samples, and neither their distribution nor the work.
  std::erase_if(all, [](const JsonDifference& found) { return found.path == kReserve; });
  for (const std::string& task : common_tasks(baseline, candidate))
    add(member(a, "overrides"), member(b, "overrides"), task, "config.overrides");
  for (const char* key : {"layout", "loops"})
    add(member(a, "evaluation"), member(b, "evaluation"), key, "config.evaluation");
  const Json &extend_a = member(a, "extend"), &extend_b = member(b, "extend");
  if (extend_a.contains("steps") && extend_b.contains("steps")) add(extend_a, extend_b, "length", "config.extend");
  return all;
}

/// Returns true if the questions of tests are reserved.
bool reserves(const Report& report) {
  const Json& training = member(report.config, "training");
  return training.contains("reserve") && training["reserve"] == true;
}

bool has_split(const TaskBaseline& task, const std::string& split) {
  return std::ranges::find(task.splits, split, &SplitBaseline::name) != task.splits.end();
}

/// Returns the splits that the configuration gives a task: those of its name, then those of its spec.
Json user_splits(const Report& report, const std::string& task) {
  Json splits = member(member(report.config, "splits"), spec_name(task));
  splits.update(member(member(report.config, "splits"), task));
  return splits;
}

/// Checks splits. Two splits that users defined or redefined may have the same name and different options.
void check_user_splits(const NamedReport& baseline, const NamedReport& candidate) {
  for (const TaskBaseline& task : baseline.report.tasks) {
    const TaskBaseline* other = find_task(candidate.report, task.task);
    if (!other) continue;
    const Json ours = user_splits(baseline.report, task.task), theirs = user_splits(candidate.report, task.task);
    std::set<std::string> names;
    for (const Json* splits : {&ours, &theirs}) {
      for (const auto& [split, options] : splits->items()) names.insert(split);
    }
    for (const std::string& split : names) {
      const bool of_both = ours.contains(split) && theirs.contains(split);
      if (!of_both && !(has_split(task, split) && has_split(*other, split))) continue;
      const auto in_spec = [&](const Report& report) {
        return member(member(report.config, "splits"), task.task).contains(split);
      };
      const std::string key =
          in_spec(baseline.report) || in_spec(candidate.report) ? task.task : spec_name(task.task);
      const auto found =
          texts(member_differences(ours, theirs, split, "config.splits." + key), baseline, candidate);
      if (!found.empty()) refuse(baseline, candidate, some_names(found));
    }
  }
}

/// Checks the split `shift`, whose range of positions is a setting.
void check_shift(const NamedReport& baseline, const NamedReport& candidate) {
  for (const TaskBaseline& task : baseline.report.tasks) {
    const TaskBaseline* other = find_task(candidate.report, task.task);
    if (!other || !has_split(task, "shift") || !has_split(*other, "shift")) continue;
    const auto found =
        texts(member_differences(member(baseline.report.config, "evaluation"),
                                 member(candidate.report.config, "evaluation"), "shift", "config.evaluation"),
              baseline, candidate);
    if (!found.empty()) refuse(baseline, candidate, some_names(found));
  }
}

/// Checks splits. A split whose values follow from the trained ones may have changed its meaning from one version
/// to the next.
void check_split_options(const NamedReport& a, const NamedReport& b, std::vector<std::string>& warnings) {
  for (const TaskBaseline& task : a.report.tasks) {
    const TaskBaseline* other = find_task(b.report, task.task);
    if (!other) continue;
    bool unknown = false;
    for (const SplitBaseline& split : task.splits) {
      for (const SplitBaseline& same : other->splits) {
        if (same.name != split.name) continue;
        if (split.options && same.options && split.options != same.options) {
          refuse(a, b,
                 fmt::format("split '{}' of task '{}' has other options in the second than in the first",
                             split.name, task.task));
        }
        unknown = unknown || split.options.has_value() != same.options.has_value();
      }
    }
    if (unknown && spec_name(task.task) != task.task) {
      warnings.push_back(fmt::format(
          "one of the reports does not say what the splits of '{}' change; older versions may have tested other lengths",
          task.task));
    }
  }
}

void warn_of_splits(const NamedReport& a, const NamedReport& b, std::vector<std::string>& warnings) {
  for (const TaskBaseline& task : a.report.tasks) {
    const TaskBaseline* other = find_task(b.report, task.task);
    for (const SplitBaseline& split : task.splits) {
      const auto same = [&](const SplitBaseline& s) { return s.name == split.name && s.kind == split.kind; };
      if (!other || std::ranges::any_of(other->splits, same)) continue;
      warnings.push_back(fmt::format("split '{}' of task '{}' is in {} only", split.name, task.task, a.name));
    }
  }
}

std::set<std::uint64_t> seeds(const Report& report) {
  std::set<std::uint64_t> seeds;
  for (const ExperimentResult& experiment : report.experiments) seeds.insert(experiment.id.seed);
  return seeds;
}

void warn_of_seeds(const NamedReport& a, const NamedReport& b, std::vector<std::string>& warnings) {
  const std::set<std::uint64_t> of_a = seeds(a.report), of_b = seeds(b.report);
  std::vector<std::uint64_t> only;
  std::set_difference(of_a.begin(), of_a.end(), of_b.begin(), of_b.end(), std::back_inserter(only));
  if (!only.empty()) warnings.push_back(fmt::format("seeds in {} only: {}", a.name, fmt::join(only, ", ")));
}

}  // namespace

std::vector<std::string> check_comparable(const NamedReport& baseline, const NamedReport& candidate,
                                          bool allow_different_budget) {
  check_versions(baseline, candidate);
  check_user_splits(baseline, candidate);
  check_shift(baseline, candidate);
  std::vector<std::string> warnings = texts(budget_differences(baseline, candidate), baseline, candidate);
  if (!warnings.empty() && !allow_different_budget) {
    refuse(baseline, candidate,
           some_names(warnings) + " (--allow-different-budget compares what was trained in different ways)");
  }
  const auto warn_of = [&](const Json& a, const Json& b, const std::string& key, const std::string& path) {
    std::ranges::move(texts(member_differences(a, b, key, path), baseline, candidate),
                      std::back_inserter(warnings));
  };
  if (reserves(baseline.report) != reserves(candidate.report)) {
    warnings.push_back(
        fmt::format("{} was made without training.reserve, so its training may have shown test samples",
                    reserves(baseline.report) ? candidate.name : baseline.name));
  }
  warn_of(member(baseline.report.config, "evaluation"), member(candidate.report.config, "evaluation"), "sequences",
          "config.evaluation");
  const Json before = member(baseline.report.config, "evaluation"),
             after = member(candidate.report.config, "evaluation");
  if (before.contains("grid") && after.contains("grid")) {
    for (const char* key : {"grid", "grid_rules"}) warn_of(before, after, key, "config.evaluation");
  }
  for (const char* key : {"cpu", "compiler", "flags", "versions"}) {
    warn_of(baseline.report.context, candidate.report.context, key, "context");
  }
  check_split_options(baseline, candidate, warnings);
  warn_of_splits(baseline, candidate, warnings);
  warn_of_splits(candidate, baseline, warnings);
  warn_of_seeds(baseline, candidate, warnings);
  warn_of_seeds(candidate, baseline, warnings);
  return warnings;
}

}  // namespace posbench
