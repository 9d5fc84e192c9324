#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "results/presentation/accuracy_text.h"
#include "results/presentation/effective_length_text.h"
#include "results/presentation/report_table.h"
#include "results/statistics/effective_length.h"
#include "results/statistics/proportion.h"

namespace posbench {
namespace {

/// Adds the accuracy, the right answers, the answers and the 95 % Wilson interval. For an experiment that
/// did not finish, adds the accuracy 0 alone.
void add_count(const std::optional<Count>& count, std::vector<Cell>& cells) {
  const Interval interval = count ? wilson_interval(*count) : Interval{};
  cells.emplace_back(number_text(count ? accuracy(*count) : 0));
  cells.emplace_back(count ? std::to_string(count->correct) : "");
  cells.emplace_back(count ? std::to_string(count->total) : "");
  cells.emplace_back(count ? number_text(interval.low) : "");
  cells.emplace_back(count ? number_text(interval.high) : "");
}

/// Returns the metrics of splits that have no separate columns.
std::vector<MetricInfo> other_metrics() {
  std::vector<MetricInfo> others = metrics();
  std::erase_if(others, [](const MetricInfo& m) {
    return m.metric == Metric::sequence || m.metric == Metric::token || m.metric == Metric::effective_length;
  });
  return others;
}

std::vector<Cell> seed_cells(const SummaryRow& row, const SplitSummary& split, size_t seed,
                             const ExperimentResult& e) {
  std::vector<Cell> cells{row.task,   row.encoding,          std::to_string(e.id.seed),
                          split.name, to_string(split.kind), to_string(e.status)};
  const SplitResult* result = find_split(e, split.name);
  add_count(result ? std::optional(result->sequence) : std::nullopt, cells);
  add_count(result ? std::optional(result->token) : std::nullopt, cells);
  cells.emplace_back(number_text(split.above_trivial.values[seed]));
  cells.emplace_back(std::to_string(e.parameters));
  cells.emplace_back(std::to_string(e.steps));
  cells.emplace_back(number_text(e.final_loss));
  for (const MetricInfo& metric : other_metrics()) {
    const std::optional<double> value = result               ? metric.value(*result)
                                        : metric.is_accuracy ? std::optional(0.0)
                                                             : std::nullopt;
    cells.emplace_back(number_text(value));
  }
  return cells;
}

/// Returns the names of all swept values, by their first row.
std::vector<std::string> swept_names(const Summary& summary) {
  std::vector<std::string> names;
  for (const SummaryRow& row : summary.rows) {
    if (!row.swept) continue;
    for (const auto& [name, value] : row.swept->values) {
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }
  return names;
}

/// Returns the cells in the columns of a sweep.
std::vector<Cell> swept_cells(const SummaryRow& row, const std::vector<std::string>& names) {
  if (names.empty()) return {};
  if (!row.swept) return std::vector<Cell>(names.size() + 2, "");
  std::vector<Cell> cells{row.swept->task, row.swept->encoding};
  for (const std::string& name : names) {
    const auto& values = row.swept->values;
    const auto found =
        std::find_if(values.begin(), values.end(), [&](const auto& value) { return value.first == name; });
    cells.emplace_back(found == values.end() ? "" : found->second);
  }
  return cells;
}

std::vector<Cell> effective_cells(const std::optional<EffectiveLength>& effective, size_t seed) {
  if (!effective) return {"", ""};
  return {number_text(effective->values[seed]), number_text(effective->tested_to)};
}

std::vector<std::string> grid_options(const Report& report) {
  std::vector<std::string> options;
  for (const char* option : {kFarGrid, "length", "distance"}) {
    const auto has = [&](const ExperimentResult& e) { return find_grid(e, option) != nullptr; };
    if (std::ranges::any_of(report.experiments, has)) options.emplace_back(option);
  }
  return options;
}

std::vector<Cell> multiple_cells(const ExperimentResult& e, const std::vector<std::string>& options) {
  std::vector<Cell> cells;
  for (const std::string& option : options) {
    const GridResult* grid = find_grid(e, option);
    for (const double multiple : kGridMultiples)
      cells.emplace_back(grid != nullptr ? number_text(accuracy_at(e, option, multiple)) : "");
  }
  return cells;
}

}  // namespace

Table seed_table(const Report& report, const Summary& summary) {
  Table table{.columns = {{"task"}, {"encoding"}, {"seed", Align::right}, {"split"}, {"kind"}, {"status"}}};
  for (const char* header : {"sequence", "sequence_correct", "sequence_total", "sequence_low", "sequence_high",
                             "token", "token_correct", "token_total", "token_low", "token_high", "above_trivial",
                             "parameters", "steps", "final_loss"}) {
    table.columns.push_back({header, Align::right});
  }
  for (const MetricInfo& metric : other_metrics()) table.columns.push_back({metric.name, Align::right});
  const std::vector<std::string> names = swept_names(summary);
  if (!names.empty()) table.columns.insert(table.columns.end(), {{"swept_task"}, {"swept_encoding"}});
  for (const std::string& name : names) table.columns.push_back({name, Align::right});
  const bool any_extended = std::any_of(summary.rows.begin(), summary.rows.end(),
                                        [](const SummaryRow& row) { return row.extended.has_value(); });
  if (any_extended) table.columns.insert(table.columns.end(), {{"parent"}, {"further_steps", Align::right}});
  const std::vector<std::string> options = grid_options(report);
  if (has_grids(summary)) {
    for (const char* header : {"effective_length", "length_tested_to", "effective_distance", "distance_tested_to",
                               "effective_far", "far_tested_to"})
      table.columns.push_back({header, Align::right});
    for (const std::string& option : options) {
      for (const double multiple : kGridMultiples)
        table.columns.push_back({fmt::format("{}_{}x", option, multiple), Align::right});
    }
  }
  std::map<ExperimentId, const ExperimentResult*> experiments;
  for (const ExperimentResult& experiment : report.experiments) experiments[experiment.id] = &experiment;
  for (const SummaryRow& row : summary.rows) {
    std::vector<Cell> about = swept_cells(row, names);
    if (any_extended) {
      about.emplace_back(row.extended ? row.extended->parent : "");
      about.emplace_back(row.extended ? std::to_string(row.extended->steps) : "");
    }
    for (size_t seed = 0; seed < row.seeds.size(); ++seed) {
      std::vector<Cell> after = about;
      const ExperimentResult& experiment = *experiments.at({row.task, row.encoding, row.seeds[seed]});
      if (has_grids(summary)) {
        for (const auto* effective : {&row.effective_length, &row.effective_distance, &row.effective_far})
          std::ranges::move(effective_cells(*effective, seed), std::back_inserter(after));
        std::ranges::move(multiple_cells(experiment, options), std::back_inserter(after));
      }
      for (const SplitSummary& split : row.splits) {
        table.rows.push_back(seed_cells(row, split, seed, experiment));
        table.rows.back().insert(table.rows.back().end(), after.begin(), after.end());
      }
    }
  }
  return table;
}

}  // namespace posbench
