#include "results/presentation/report_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace posbench {
namespace {

/// Two digits; of accuracies rounded down: 1.00 means that nothing was wrong.
std::string two_digits(const std::optional<SplitSummary>& split, Metric metric) {
  const Spread* spread = split ? split->spread(metric) : nullptr;
  if (!spread) return "-";
  return fmt::format("{:.2f}", info(metric).is_accuracy ? std::floor(spread->mean * 100 + 1e-9) / 100 : spread->mean);
}

Cell accuracy_cell(const SummaryRow& row, Metric metric) {
  const int seeds = static_cast<int>(row.seeds.size());
  if (row.diverged + row.failed == seeds) return {row.failed == 0 ? "diverged" : "failed", Tone::bad};
  std::string text = fmt::format("{}/{}", two_digits(row.in_distribution, metric),
                                 two_digits(row.out_of_distribution, metric));
  if (row.diverged > 0) text += 'd';
  if (row.failed > 0) text += 'f';
  const bool solved = row.out_of_distribution && row.out_of_distribution->solved == 1;
  return {text, row.diverged + row.failed > 0 ? Tone::bad : solved ? Tone::good : Tone::plain};
}

std::string number(double value) { return fmt::format("{:.6g}", value); }

std::string low(const std::optional<Interval>& interval) { return interval ? number(interval->low) : ""; }
std::string high(const std::optional<Interval>& interval) { return interval ? number(interval->high) : ""; }

/// All but those that have columns of their own.
std::vector<MetricInfo> other_metrics() {
  std::vector<MetricInfo> others = metrics();
  std::erase_if(others, [](const MetricInfo& m) { return m.metric == Metric::sequence || m.metric == Metric::token; });
  return others;
}

std::vector<Cell> split_cells(const SummaryRow& row, const SplitSummary& split) {
  std::vector<Cell> cells{row.task,
                          row.encoding,
                          split.name,
                          to_text(split.kind),
                          std::to_string(row.seeds.size()),
                          std::to_string(row.diverged),
                          std::to_string(row.failed),
                          number(split.sequence.mean),
                          low(split.sequence.interval),
                          high(split.sequence.interval),
                          number(split.token.mean),
                          low(split.token.interval),
                          high(split.token.interval),
                          number(split.above_trivial.mean),
                          number(split.solved)};
  for (const MetricInfo& metric : other_metrics()) {
    const Spread* spread = split.spread(metric.metric);
    cells.insert(cells.end(), {spread ? number(spread->mean) : "", spread ? low(spread->interval) : "",
                               spread ? high(spread->interval) : ""});
  }
  return cells;
}

/// The names of all swept values, by their first row.
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

/// What stands in the columns of the sweep, if there is one.
std::vector<Cell> swept_cells(const SummaryRow& row, const std::vector<std::string>& names) {
  if (names.empty()) return {};
  if (!row.swept) return std::vector<Cell>(names.size() + 2, "");
  std::vector<Cell> cells{row.swept->task, row.swept->encoding};
  for (const std::string& name : names) {
    const auto& values = row.swept->values;
    const auto found = std::find_if(values.begin(), values.end(), [&](const auto& value) { return value.first == name; });
    cells.emplace_back(found == values.end() ? "" : found->second);
  }
  return cells;
}

std::string seeds_text(int seeds) { return fmt::format("{} seed{}", seeds, seeds == 1 ? "" : "s"); }

std::string rank_text(const std::optional<MeanRank>& rank) {
  if (!rank) return "-";
  if (!rank->enough_seeds()) return fmt::format("{:.1f} ({} cannot tell)", rank->mean, seeds_text(rank->seeds));
  return fmt::format("{:.1f} ({:.1f} to {:.1f})", rank->mean, rank->interval.low, rank->interval.high);
}

}  // namespace

Table accuracy_table(const Summary& summary, Metric metric) {
  Table table{.columns = {{"encoding"}}};
  std::map<std::string, size_t> columns, rows;
  for (const SummaryRow& row : summary.rows) {
    if (columns.emplace(row.task, table.columns.size()).second) table.columns.push_back({row.task, Align::right});
  }
  for (const Ranking& ranking : summary.ranking) {
    rows.emplace(ranking.encoding, table.rows.size());
    table.rows.emplace_back(table.columns.size(), Cell{""}).front().text = ranking.encoding;
  }
  for (const SummaryRow& row : summary.rows) {
    table.rows[rows.at(row.encoding)][columns.at(row.task)] = accuracy_cell(row, metric);
  }
  return table;
}

std::vector<std::string> accuracy_notes(const Summary& summary, Metric metric) {
  const auto any = [&](auto test) { return std::any_of(summary.rows.begin(), summary.rows.end(), test); };
  const MetricInfo& about = info(metric);
  const std::string counted = about.is_accuracy ? "0" : "a uniform guess, or as the worst seed if that is worse";
  std::vector<std::string> notes = {
      fmt::format("{}, in distribution / out of distribution, mean over seeds and splits{}", about.title,
                  about.is_accuracy ? ", rounded down" : about.lower_is_better ? "; less is better" : "")};
  if (any([](const SummaryRow& row) { return row.diverged > 0; })) {
    notes.push_back("d: the loss of one or more seeds diverged; they count as " + counted);
  }
  if (any([](const SummaryRow& row) { return row.failed > 0; })) {
    notes.push_back("f: one or more seeds failed; they count as " + counted);
  }
  if (any([](const SummaryRow& row) { return !row.in_distribution || !row.out_of_distribution; })) {
    notes.push_back("-: the task has no such split");
  }
  const auto lacks = [&](const std::optional<SplitSummary>& split) { return split && !split->spread(metric); };
  if (any([&](const SummaryRow& row) { return lacks(row.in_distribution) || lacks(row.out_of_distribution); })) {
    notes.push_back(fmt::format("-: the report does not have the {}", about.name));
  }
  return notes;
}

Table ranking_table(const Summary& summary) {
  std::vector<Ranking> ranking = summary.ranking;
  const auto place = [](const Ranking& r) { return r.out_of_distribution ? r.out_of_distribution->mean : 1e9; };
  std::stable_sort(ranking.begin(), ranking.end(),
                   [&](const Ranking& a, const Ranking& b) { return place(a) < place(b); });
  Table table{.columns = {{"encoding"},
                          {"mean rank out of distribution (95 %)", Align::right},
                          {"in distribution (95 %)", Align::right},
                          {"tasks", Align::right}}};
  for (const Ranking& row : ranking) {
    const std::optional<MeanRank>& any = row.in_distribution ? row.in_distribution : row.out_of_distribution;
    table.rows.push_back({row.encoding, rank_text(row.out_of_distribution), rank_text(row.in_distribution),
                          std::to_string(any ? any->tasks : 0)});
  }
  return table;
}

Table split_table(const Summary& summary) {
  Table table{.columns = {{"task"}, {"encoding"}, {"split"}, {"kind"}}};
  for (const char* header : {"seeds", "diverged", "failed", "sequence", "sequence_low", "sequence_high", "token",
                             "token_low", "token_high", "above_trivial", "solved"}) {
    table.columns.push_back({header, Align::right});
  }
  for (const MetricInfo& metric : other_metrics()) {
    for (const char* end : {"", "_low", "_high"}) table.columns.push_back({metric.name + end, Align::right});
  }
  const std::vector<std::string> names = swept_names(summary);
  if (!names.empty()) table.columns.insert(table.columns.end(), {{"swept_task"}, {"swept_encoding"}});
  for (const std::string& name : names) table.columns.push_back({name, Align::right});
  for (const SummaryRow& row : summary.rows) {
    const std::vector<Cell> swept = swept_cells(row, names);
    for (const SplitSummary& split : row.splits) {
      table.rows.push_back(split_cells(row, split));
      table.rows.back().insert(table.rows.back().end(), swept.begin(), swept.end());
    }
  }
  return table;
}

Table unfinished_table(const Report& report) {
  Table table{.columns = {{"task"}, {"encoding"}, {"seed", Align::right}, {"status"}, {"reason"}}};
  for (const ExperimentResult& experiment : report.experiments) {
    if (experiment.status == Status::ok) continue;
    table.rows.push_back({experiment.id.task, experiment.id.encoding, std::to_string(experiment.id.seed),
                          Cell{to_text(experiment.status), Tone::bad}, experiment.reason});
  }
  return table;
}

}  // namespace posbench
