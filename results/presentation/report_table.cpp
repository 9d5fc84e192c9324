#include "results/presentation/report_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "results/presentation/accuracy_text.h"
#include "results/presentation/effective_length_text.h"
#include "results/statistics/effective_length.h"

namespace posbench {
namespace {

using Values = decltype(Swept::values);

std::string two_digits(const SplitSummary& split, Metric metric) {
  const Spread* spread = split.spread(metric);
  if (!spread) return "-";
  return metric_info(metric).is_accuracy ? accuracy_text(spread->mean) : fmt::format("{:.2f}", spread->mean);
}

std::string two_digits(const std::optional<SplitSummary>& split, Metric metric) {
  return split ? two_digits(*split, metric) : "-";
}

/// Returns true if the accuracy out of distribution says nothing about the encoding.
bool not_learned(const SummaryRow& row, Metric metric) {
  return metric_info(metric).needs_learning && !row.learned.by_half_the_seeds();
}

bool unfinished(const SummaryRow& row) { return row.diverged + row.failed == static_cast<int>(row.seeds.size()); }

Cell unfinished_cell(const SummaryRow& row) { return {row.failed == 0 ? "diverged" : "failed", Tone::bad}; }

/// Returns the effective length before accuracies in and out of distribution. "not learned" replaces it too.
std::string effective_prefix(const SummaryRow& row, Metric metric) {
  const std::string text = effective_lengths_text(row);
  return row.effective_length && not_learned(row, metric) && row.out_of_distribution ? "" : text + " ";
}

/// Returns the cell of an encoding on a task. `has_effective`: the table has effective lengths.
Cell accuracy_cell(const SummaryRow& row, Metric metric, bool has_effective) {
  if (unfinished(row)) return unfinished_cell(row);
  if (metric == Metric::effective_length) return effective_lengths_text(row);
  const bool unknown = not_learned(row, metric) && row.out_of_distribution;
  std::string text = fmt::format("{}/{}", two_digits(row.in_distribution, metric),
                                 unknown ? "not learned" : two_digits(row.out_of_distribution, metric));
  if (has_effective) text.insert(0, effective_prefix(row, metric));
  const std::string letters = unfinished_letters(row.diverged > 0, row.failed > 0);
  if (!letters.empty()) return {text + (unknown ? ", " : "") + letters, Tone::bad};
  const bool solved = row.out_of_distribution && row.out_of_distribution->solved == 1;
  return {text, unknown ? Tone::faint : solved ? Tone::good : Tone::plain};
}

/// Returns the mean on a split. It is in brackets if it says nothing about the encoding.
Cell split_cell(const SummaryRow& row, const SplitSummary& split, Metric metric) {
  if (unfinished(row)) return unfinished_cell(row);
  const bool unknown = split.kind != SplitKind::in_distribution && not_learned(row, metric);
  const std::string letters = unfinished_letters(row.diverged > 0, row.failed > 0);
  const std::string text =
      fmt::format(fmt::runtime(unknown ? "({}){}" : "{}{}"), two_digits(split, metric), letters);
  return {text, !letters.empty()    ? Tone::bad
                : unknown           ? Tone::faint
                : split.solved == 1 ? Tone::good
                                    : Tone::plain};
}

constexpr const char *kEffectiveLength = "effective length", *kEffectiveFar = "far",
                     *kEffectiveDistance = "effective distance";

/// Returns the cell of the column with this name: an effective length, a swept value, or the mean on a split.
Cell named_cell(const SummaryRow& row, const std::string& name, Metric metric) {
  for (const auto& [swept, value] : row.swept ? row.swept->values : Values{}) {
    if (swept == name) return value;
  }
  if (name == kEffectiveLength) return effective_length_text(row.effective_length, row.learned);
  if (name == kEffectiveFar)
    return row.effective_far ? effective_length_text(row.effective_far, row.learned) : "not measured";
  if (name == kEffectiveDistance) return effective_length_text(row.effective_distance, row.learned);
  for (const SplitSummary& split : row.splits) {
    if (split.name == name) return split_cell(row, split, metric);
  }
  return "-";
}

std::string rank_text(const std::optional<MeanRank>& rank) {
  if (!rank || rank->tasks < 2 || rank->seeds < 2) return "-";
  if (!rank->enough_seeds())
    return fmt::format("{:.1f} ({} cannot tell)", rank->mean, counted(static_cast<size_t>(rank->seeds), "seed"));
  return fmt::format("{:.1f} ({:.1f} to {:.1f})", rank->mean, rank->interval.low, rank->interval.high);
}

/// Returns the meaning of the letters and signs in tables of accuracies.
std::vector<std::string> sign_notes(const Summary& summary, Metric metric) {
  const auto any = [&](auto test) { return std::ranges::any_of(summary.rows, test); };
  const MetricInfo& about = metric_info(metric);
  const std::string counted = about.is_accuracy ? "0" : "a uniform guess, or as the worst seed if that is worse";
  std::vector<std::string> notes;
  if (!summary.rows.empty() && !any([](const SummaryRow& row) { return row.seeds.size() > 1; })) {
    notes.push_back("one seed decides nothing: with another seed the order of encodings may change; use -s 5");
  }
  if (any([](const SummaryRow& row) { return row.diverged > 0; })) {
    notes.push_back("d: the loss of one or more seeds diverged; they count as " + counted);
  }
  if (any([](const SummaryRow& row) { return row.failed > 0; })) {
    notes.push_back("f: one or more seeds failed; they count as " + counted);
  }
  const auto lacks = [&](const SplitSummary& split) {
    return metric != Metric::effective_length && !split.spread(metric);
  };
  if (any([&](const SummaryRow& row) { return std::ranges::any_of(row.splits, lacks); })) {
    notes.push_back(fmt::format("-: the report does not have the {}", about.name));
  }
  return notes;
}

/// Returns true if a table has "not learned" or brackets, because an encoding has not learned a task.
bool any_not_learned(const Summary& summary, Metric metric) {
  return std::ranges::any_of(summary.rows, [&](const SummaryRow& row) {
    const bool is_gated = row.effective_length || (row.out_of_distribution && not_learned(row, metric));
    return !unfinished(row) && is_gated && !row.learned.by_half_the_seeds();
  });
}

}  // namespace

Table accuracy_table(const Summary& summary, Metric metric) {
  Table table{.columns = {{"encoding"}}};
  const bool has_effective = has_grids(summary);
  std::map<std::string, size_t> columns, rows;
  for (const SummaryRow& row : summary.rows) {
    if (columns.emplace(row.task, table.columns.size()).second) table.columns.push_back({row.task, Align::right});
  }
  for (const Ranking& ranking : summary.ranking) {
    rows.emplace(ranking.encoding, table.rows.size());
    table.rows.emplace_back(table.columns.size(), Cell{""}).front().text = ranking.encoding;
  }
  for (const SummaryRow& row : summary.rows) {
    table.rows[rows.at(row.encoding)][columns.at(row.task)] = accuracy_cell(row, metric, has_effective);
  }
  return table;
}

Table paper_table(const Summary& summary, Metric metric) {
  Table table = accuracy_table(summary, metric);
  const double sign = metric_info(metric).lower_is_better ? -1 : 1;
  for (size_t column = 1; column < table.columns.size(); ++column) {
    std::vector<std::pair<double, Cell*>> cells;
    for (const SummaryRow& row : summary.rows) {
      const auto& split = row.out_of_distribution ? row.out_of_distribution : row.in_distribution;
      const bool is_unknown = !split || (row.out_of_distribution && not_learned(row, metric));
      const Spread* spread = is_unknown ? nullptr : split->spread(metric);
      if (row.task != table.columns[column].header || spread == nullptr) continue;
      Cell& cell = (*std::ranges::find(table.rows, row.encoding, [](const auto& r) { return r[0].text; }))[column];
      cell = accuracy_text(spread->mean);
      if (const auto& range = spread->interval)
        cell.text += fmt::format(" ({:.2f} to {:.2f})", range->low, range->high);
      cell.text += unfinished_letters(row.diverged > 0, row.failed > 0);
      cells.emplace_back(sign * spread->mean, &cell);
    }
    for (const auto& [value, cell] : cells) {
      if (value == std::ranges::max(cells).first) cell->tone = Tone::good;
    }
  }
  return table;
}

std::vector<TaskTable> split_tables(const Summary& summary, Metric metric) {
  std::vector<TaskTable> tables;
  const auto table_of = [&](const SummaryRow& row) -> Table& {
    const std::string& task = row.swept ? row.swept->task : row.task;
    auto found = std::ranges::find(tables, task, &TaskTable::task);
    if (found == tables.end()) found = tables.insert(found, {.task = task, .table = {.columns = {{"encoding"}}}});
    return found->table;
  };
  for (const SummaryRow& row : summary.rows) {
    std::vector<Column>& columns = table_of(row).columns;
    const auto add = [&](const std::string& name) {
      if (std::ranges::find(columns, name, &Column::header) == columns.end())
        columns.push_back({name, Align::right});
    };
    for (const auto& [name, value] : row.swept ? row.swept->values : Values{}) add(name);
    if (row.effective_far) add(kEffectiveFar);
    if (row.effective_length) add(kEffectiveLength);
    if (row.effective_distance) add(kEffectiveDistance);
    for (const SplitSummary& split : row.splits) add(split.name);
  }
  for (const SummaryRow& row : summary.rows) {
    Table& table = table_of(row);
    std::vector<Cell>& cells = table.rows.emplace_back();
    for (const Column& column : table.columns) {
      cells.push_back(cells.empty() ? Cell(row.swept ? row.swept->encoding : row.encoding)
                                    : named_cell(row, column.header, metric));
    }
  }
  return tables;
}

std::vector<TaskTable> length_tables(const Report& report, const Summary& summary) {
  std::map<ExperimentId, const ExperimentResult*> experiments;
  for (const ExperimentResult& experiment : report.experiments) experiments[experiment.id] = &experiment;
  std::vector<TaskTable> tables;
  for (const SummaryRow& row : summary.rows) {
    if (tables.empty() || tables.back().task != row.task) {
      tables.push_back({row.task, {.columns = {{"encoding"}, {"grid"}, {"seed", Align::right}}}});
      for (const double multiple : kGridMultiples)
        tables.back().table.columns.push_back({fmt::format("{}x", multiple), Align::right});
    }
    for (const auto* effective : {&row.effective_far, &row.effective_length, &row.effective_distance}) {
      if (!*effective) continue;
      const std::string& option = (*effective)->option;
      std::vector<std::vector<Cell>> rows(1 + row.seeds.size(), {row.encoding, option});
      rows[0].emplace_back("mean");
      for (size_t seed = 0; seed < row.seeds.size(); ++seed)
        rows[1 + seed].emplace_back(std::to_string(row.seeds[seed]));
      for (const double multiple : kGridMultiples) {
        double sum = 0;
        bool is_tested = true;
        for (size_t seed = 0; seed < row.seeds.size(); ++seed) {
          const std::optional<double> value =
              accuracy_at(*experiments.at({row.task, row.encoding, row.seeds[seed]}), option, multiple);
          rows[1 + seed].emplace_back(value ? accuracy_text(*value) : "-");
          sum += value.value_or(0);
          is_tested = is_tested && value;
        }
        rows[0].emplace_back(is_tested ? accuracy_text(sum / static_cast<double>(row.seeds.size())) : "-");
      }
      std::ranges::move(rows, std::back_inserter(tables.back().table.rows));
    }
  }
  std::erase_if(tables, [](const TaskTable& task) { return task.table.rows.empty(); });
  return tables;
}

std::vector<std::string> accuracy_notes(const Summary& summary, Metric metric, bool by_split) {
  const auto any = [&](auto test) { return std::ranges::any_of(summary.rows, test); };
  const MetricInfo& about = metric_info(metric);
  std::vector<std::string> notes = effective_length_notes(summary);
  if (metric != Metric::effective_length) {
    notes.push_back(fmt::format(
        "{}, {}{}", about.title,
        by_split ? "mean over seeds" : "in distribution / out of distribution, mean over seeds and splits",
        about.lower_is_better ? "; less is better" : ""));
  }
  if (!summary.rows.empty() && !has_grids(summary))
    notes.emplace_back("no effective length: the report has no grid of lengths (evaluation.grid)");
  if (any_not_learned(summary, metric)) {
    notes.push_back(
        fmt::format("{}: most seeds are under {} in distribution, so the {} nothing about the encoding{}",
                    by_split ? "in brackets" : "not learned", kLearned,
                    by_split || !has_grids(summary) ? "out-of-distribution accuracy says"
                    : about.needs_learning          ? "effective length and the out-of-distribution accuracy say"
                                                    : "effective length says",
                    by_split ? "" : "; train longer, or see every accuracy with 'report --by-split'"));
  }
  const bool lacks_split =
      any([](const SummaryRow& row) { return !row.in_distribution || !row.out_of_distribution; });
  if (!by_split && lacks_split && metric != Metric::effective_length)
    notes.emplace_back("-: the task has no such split");
  for (std::string& note : sign_notes(summary, metric)) notes.push_back(std::move(note));
  return notes;
}

std::vector<std::string> memory_notes(const Report& report) {
  constexpr double kMany = 0.2;
  std::map<int, std::vector<std::string>> tasks;  // by the number of training samples
  for (const TaskBaseline& task : report.tasks) {
    std::vector<std::string> splits;
    for (const SplitBaseline& split : task.splits) {
      if (split.seen_in_training.value_or(0) > kMany)
        splits.push_back(fmt::format("{} {}", split.name, accuracy_text(*split.seen_in_training)));
    }
    if (!splits.empty())
      tasks[task.training_samples.value_or(0)].push_back(
          fmt::format("{} ({})", task.task, fmt::join(splits, ", ")));
  }
  std::vector<std::string> notes, exempt;
  for (const TaskBaseline& task : report.tasks) {
    for (const SplitBaseline& split : task.splits) {
      if (split.exempt_lengths.empty()) continue;
      const auto [from, to] = std::pair(split.exempt_lengths.front(), split.exempt_lengths.back());
      exempt.push_back(from == to ? fmt::format("{} {} (length {})", task.task, split.name, from)
                                  : fmt::format("{} {} (lengths {} to {})", task.task, split.name, from, to));
    }
  }
  if (!exempt.empty()) {
    notes.push_back(
        fmt::format("too few questions to reserve some for tests, so training may draw those of the tests: {}",
                    fmt::join(exempt, ", ")));
  }
  for (const auto& [samples, list] : tasks) {
    notes.push_back(
        fmt::format("many test samples also occur in {} training samples, so accuracy there may be memory: {}",
                    samples, fmt::join(list, ", ")));
  }
  return notes;
}

std::vector<Ranking> sort_by_rank(std::vector<Ranking> ranking) {
  std::ranges::stable_sort(ranking, {}, [](const Ranking& row) {
    const std::optional<MeanRank>& rank = row.out_of_distribution ? row.out_of_distribution : row.in_distribution;
    return std::pair(!row.out_of_distribution, rank ? rank->mean : std::numeric_limits<double>::infinity());
  });
  return ranking;
}

Table ranking_table(const Summary& summary) {
  Table table{.columns = make_columns({"encoding"}, {"mean rank by sequence accuracy, out of distribution (95 %)",
                                                     "in distribution (95 %)", "tasks"})};
  for (const Ranking& row : sort_by_rank(summary.ranking)) {
    const std::optional<MeanRank>& any = row.in_distribution ? row.in_distribution : row.out_of_distribution;
    if (rank_text(any) == "-") continue;
    table.rows.push_back({row.encoding, rank_text(row.out_of_distribution), rank_text(row.in_distribution),
                          std::to_string(any->tasks)});
  }
  return table;
}

Table unfinished_table(const Report& report) {
  Table table{.columns = {{"task"}, {"encoding"}, {"seed", Align::right}, {"status"}, {"reason"}}};
  for (const ExperimentResult& experiment : report.experiments) {
    if (experiment.status == Status::ok) continue;
    table.rows.push_back({experiment.id.task, experiment.id.encoding, std::to_string(experiment.id.seed),
                          Cell{to_string(experiment.status), Tone::bad}, experiment.reason});
  }
  return table;
}

}  // namespace posbench
