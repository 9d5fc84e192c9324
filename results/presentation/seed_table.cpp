#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "results/presentation/accuracy_text.h"
#include "results/presentation/report_table.h"
#include "results/statistics/proportion.h"
#include "results/statistics/summary.h"

namespace posbench {
namespace {

using Cells = std::vector<Cell>;

/// A value of an experiment. An accuracy has counts.
struct Result {
  std::string split, kind, metric;
  std::optional<double> value;
  std::optional<Count> count = {};
  std::optional<double> multiple = {};
};

Cells result_cells(const Result& result) {
  Cells cells{result.split, result.kind, result.metric, number_text(result.value)};
  if (const std::optional<Count>& count = result.count) {
    const Interval interval = wilson_interval(*count);
    cells.insert(cells.end(), {std::to_string(count->correct), std::to_string(count->total),
                               number_text(interval.low), number_text(interval.high)});
  }
  cells.resize(8, "");
  cells.emplace_back(number_text(result.multiple));
  return cells;
}

/// Adds the value of each metric of a split.
void add_split(const SplitResult& split, const TaskBaseline& task, std::vector<Result>& results) {
  const std::string kind = to_string(split.kind);
  results.push_back({split.name, kind, "token", accuracy(split.token), split.token});
  results.push_back({split.name, kind, "sequence", accuracy(split.sequence), split.sequence});
  const auto baseline = std::ranges::find(task.splits, split.name, &SplitBaseline::name);
  results.push_back({split.name, kind, "above_trivial", above_trivial(*baseline, accuracy(split.token))});
  for (const MetricInfo& metric : metrics()) {
    if (metric.metric == Metric::sequence || metric.metric == Metric::token || metric.value == nullptr) continue;
    if (const std::optional<double> value = metric.value(split))
      results.push_back({split.name, kind, metric.name, value});
  }
}

/// Adds the accuracies at each multiple of the trained length or distance.
void add_grid(const GridResult& grid, std::vector<Result>& results) {
  for (const GridPoint& point : grid.points) {
    const std::string split = fmt::format("{}={:g}x", grid.option, point.multiple);
    results.push_back({split, "grid", "token", accuracy(point.token), point.token, point.multiple});
    results.push_back({split, "grid", "sequence", accuracy(point.sequence), point.sequence, point.multiple});
  }
}

/// Returns the names of all swept values, by their first experiment.
std::vector<std::string> swept_names(const Report& report) {
  std::vector<std::string> names;
  for (const ExperimentResult& e : report.experiments) {
    if (!e.swept) continue;
    for (const auto& [name, value] : e.swept->values) {
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
  }
  return names;
}

/// Returns the cells in the columns of a sweep.
Cells swept_cells(const ExperimentResult& e, const std::vector<std::string>& names) {
  if (names.empty()) return {};
  if (!e.swept) return Cells(names.size() + 2, "");
  Cells cells{e.swept->task, e.swept->encoding};
  for (const std::string& name : names) {
    const auto found = std::ranges::find(e.swept->values, name, &std::pair<std::string, std::string>::first);
    cells.emplace_back(found == e.swept->values.end() ? "" : found->second);
  }
  return cells;
}

}  // namespace

Table seed_table(const Report& report) {
  Table table{.columns = {{"task"}, {"encoding"}, {"seed"}, {"status"}, {"parameters"}, {"steps"}}};
  const std::vector<std::string> names = swept_names(report);
  if (!names.empty()) table.columns.insert(table.columns.end(), {{"swept_task"}, {"swept_encoding"}});
  for (const std::string& name : names) table.columns.push_back({name});
  const bool any_extended = std::ranges::any_of(
      report.experiments, [](const ExperimentResult& experiment) { return experiment.extended.has_value(); });
  if (any_extended) table.columns.insert(table.columns.end(), {{"parent"}, {"further_steps"}});
  for (const char* header : {"split", "kind", "metric", "value", "correct", "total", "low", "high", "multiple"})
    table.columns.push_back({header});
  for (const ExperimentResult& e : report.experiments) {
    Cells about{e.id.task,
                e.id.encoding,
                std::to_string(e.id.seed),
                to_string(e.status),
                std::to_string(e.parameters),
                std::to_string(e.steps)};
    std::ranges::move(swept_cells(e, names), std::back_inserter(about));
    if (any_extended) {
      about.emplace_back(e.extended ? e.extended->parent : "");
      about.emplace_back(e.extended ? std::to_string(e.extended->steps) : "");
    }
    std::vector<Result> results;
    for (const SplitResult& split : e.splits) add_split(split, *find_task(report, e.id.task), results);
    for (const GridResult& grid : e.grids) add_grid(grid, results);
    if (results.empty()) results.emplace_back();  // it did not finish
    for (const Result& result : results) {
      table.rows.push_back(about);
      std::ranges::move(result_cells(result), std::back_inserter(table.rows.back()));
    }
  }
  return table;
}

}  // namespace posbench
