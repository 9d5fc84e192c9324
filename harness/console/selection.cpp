#include "harness/console/selection.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/enum_names.h"
#include "base/error.h"
#include "base/spec.h"
#include "base/text.h"
#include "harness/config/names.h"
#include "harness/training/samples.h"

namespace posbench {
namespace {

using NameSet = std::set<std::string>;

const EnumNames<ValueKind> kNouns{
    {ValueKind::task, "task"}, {ValueKind::encoding, "encoding"}, {ValueKind::split, "split"}};

/// Returns the names that an item of a list selects: a spec, a name without options, or a pattern.
NameSet matches(const std::string& item, const NameSet& names) {
  NameSet found;
  for (const std::string& name : names) {
    if (selects(item, name)) found.insert(name);
  }
  return found;
}

NameSet selected_or_all(const std::optional<std::string>& list, ValueKind kind, const NameSet& names) {
  return list ? select_names(*list, kind, names) : names;
}

[[noreturn]] void refuse_empty() {
  throw InputError("no result has the selected tasks, encodings and splits together; change -t, -e or --split");
}

}  // namespace

std::set<std::string> select_names(const std::string& list, ValueKind kind, const std::set<std::string>& names) {
  const std::vector<std::string> items = split_specs(list);
  if (items.empty())
    throw InputError(fmt::format("the list of {}s is empty, expected names or globs", kNouns.name(kind)));
  NameSet selected;
  if (items.front().starts_with('-')) selected = names;
  for (std::string item : items) {
    const bool excludes = item.starts_with('-');
    if (excludes) item.erase(0, 1);
    NameSet found = matches(item, names);
    if (found.empty() && kind == ValueKind::encoding) found = matches(encoding_name(item), names);
    if (found.empty() && kind == ValueKind::task) found = matches(task_name(item), names);
    if (found.empty()) {
      const std::vector<std::string> known(names.begin(), names.end());
      throw InputError(fmt::format("the reports have no {0} '{1}'{2} ({0}s: {3})", kNouns.name(kind), item,
                                   did_you_mean(item, known), fmt::join(known, ", ")));
    }
    for (const std::string& name : found) {
      if (excludes) selected.erase(name);
      if (!excludes) selected.insert(name);
    }
  }
  return selected;
}

void add_selection(Command& command, Selection& selection) {
  command
      .list("-t,--tasks", selection.tasks, ValueKind::task,
            "comma-separated tasks of the reports: names, specs, globs and aspects (aspect:recall); a leading - "
            "excludes")
      .default_text("all");
  command
      .list("-e,--encodings", selection.encodings, ValueKind::encoding,
            "comma-separated encodings in the same form")
      .default_text("all");
  command.list("--split", selection.splits, ValueKind::split, "comma-separated splits").default_text("all");
}

void select(const Selection& selection, std::vector<Report>& reports) {
  if (!selection.tasks && !selection.encodings && !selection.splits) return;
  NameSet tasks, encodings, splits;
  for (const Report& report : reports) {
    for (const ExperimentResult& e : report.experiments) {
      tasks.insert(e.id.task);
      encodings.insert(e.id.encoding);
    }
    for (const TaskBaseline& task : report.tasks) {
      tasks.insert(task.task);
      for (const SplitBaseline& split : task.splits) splits.insert(split.name);
    }
  }
  tasks = selected_or_all(selection.tasks, ValueKind::task, tasks);
  encodings = selected_or_all(selection.encodings, ValueKind::encoding, encodings);
  splits = selected_or_all(selection.splits, ValueKind::split, splits);
  splits.insert(kInDistribution);
  for (const Report& report : reports) {  // the model before the change decides whether a task was learned
    for (const ExperimentResult& e : report.experiments) {
      if (e.extended && encodings.contains(e.id.encoding)) encodings.insert(e.extended->parent);
    }
  }
  const auto is_other_split = [&](const auto& split) { return !splits.contains(split.name); };
  size_t left = 0;
  for (Report& report : reports) {
    std::erase_if(report.tasks, [&](const TaskBaseline& task) { return !tasks.contains(task.task); });
    std::erase_if(report.experiments, [&](const ExperimentResult& e) {
      return !tasks.contains(e.id.task) || !encodings.contains(e.id.encoding);
    });
    for (TaskBaseline& task : report.tasks) std::erase_if(task.splits, is_other_split);
    for (ExperimentResult& e : report.experiments) std::erase_if(e.splits, is_other_split);
    left += report.experiments.size();
  }
  if (left == 0) refuse_empty();
}

void select(const Selection& selection, Comparison& comparison) {
  NameSet tasks, encodings, splits;
  for (const ComparisonRow& row : comparison.rows) {
    tasks.insert(row.task);
    encodings.insert({row.encoding, row.candidate_encoding});
    splits.insert(row.split);
  }
  for (const UnmatchedExperiments& alone : comparison.one_sided) {
    tasks.insert(alone.task);
    encodings.insert(alone.encoding);
  }
  tasks = selected_or_all(selection.tasks, ValueKind::task, tasks);
  encodings = selected_or_all(selection.encodings, ValueKind::encoding, encodings);
  splits = selected_or_all(selection.splits, ValueKind::split, splits);
  std::erase_if(comparison.rows, [&](const ComparisonRow& row) {
    const bool has_encoding = encodings.contains(row.encoding) || encodings.contains(row.candidate_encoding);
    return !tasks.contains(row.task) || !has_encoding || !splits.contains(row.split);
  });
  std::erase_if(comparison.one_sided, [&](const UnmatchedExperiments& alone) {
    return !tasks.contains(alone.task) || !encodings.contains(alone.encoding);
  });
  if (comparison.rows.empty()) refuse_empty();
}

}  // namespace posbench
