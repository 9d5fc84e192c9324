#include "results/presentation/report_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "results/presentation/accuracy_text.h"
#include "results/statistics/proportion.h"

namespace posbench {
namespace {

std::string two_digits(const std::optional<SplitSummary>& split) {
  return split ? accuracy_text(split->sequence.mean) : "-";
}

/// Nothing follows from its accuracy out of distribution.
bool not_learned(const SummaryRow& row) { return row.out_of_distribution && !row.learned.most(); }

bool unfinished(const SummaryRow& row) { return row.diverged + row.failed == static_cast<int>(row.seeds.size()); }

Cell accuracy_cell(const SummaryRow& row) {
  if (unfinished(row)) return {row.failed == 0 ? "diverged" : "failed", Tone::bad};
  std::string text = fmt::format("{}/{}", two_digits(row.in_distribution),
                                 not_learned(row) ? "not learned" : two_digits(row.out_of_distribution));
  if (row.diverged + row.failed > 0) text += not_learned(row) ? ", " : "";
  if (row.diverged > 0) text += 'd';
  if (row.failed > 0) text += 'f';
  if (row.diverged + row.failed > 0) return {text, Tone::bad};
  const bool solved = row.out_of_distribution && row.out_of_distribution->solved == 1;
  return {text, not_learned(row) ? Tone::faint : solved ? Tone::good : Tone::plain};
}

std::string number(double value) { return fmt::format("{:.6g}", value); }

/// Accuracy, right answers, answers, and the 95 % Wilson interval; for an experiment that did not finish, the accuracy 0
/// alone.
void add_count(const std::optional<Count>& count, std::vector<Cell>& cells) {
  const Interval interval = count ? wilson(*count) : Interval{};
  cells.emplace_back(number(count ? accuracy(*count) : 0));
  cells.emplace_back(count ? std::to_string(count->correct) : "");
  cells.emplace_back(count ? std::to_string(count->total) : "");
  cells.emplace_back(count ? number(interval.low) : "");
  cells.emplace_back(count ? number(interval.high) : "");
}

std::vector<Cell> seed_cells(const SummaryRow& row, const SplitSummary& split, size_t seed, const ExperimentResult& e) {
  std::vector<Cell> cells{row.task, row.encoding, std::to_string(e.id.seed), split.name, to_text(split.kind), to_text(e.status)};
  add_count(split_count(e, split.name, Metric::sequence), cells);
  add_count(split_count(e, split.name, Metric::token), cells);
  cells.emplace_back(number(split.above_trivial.values[seed]));
  cells.emplace_back(std::to_string(e.parameters));
  cells.emplace_back(std::to_string(e.steps));
  cells.emplace_back(e.final_loss ? number(*e.final_loss) : "");
  return cells;
}

std::string seeds_text(int seeds) { return fmt::format("{} seed{}", seeds, seeds == 1 ? "" : "s"); }

std::string rank_text(const std::optional<MeanRank>& rank) {
  if (!rank) return "-";
  if (!rank->enough_seeds()) return fmt::format("{:.1f} ({} cannot tell)", rank->mean, seeds_text(rank->seeds));
  return fmt::format("{:.1f} ({:.1f} to {:.1f})", rank->mean, rank->interval.low, rank->interval.high);
}

}  // namespace

Table accuracy_table(const Summary& summary) {
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
    table.rows[rows.at(row.encoding)][columns.at(row.task)] = accuracy_cell(row);
  }
  return table;
}

std::vector<std::string> accuracy_notes(const Summary& summary) {
  const auto any = [&](auto test) { return std::any_of(summary.rows.begin(), summary.rows.end(), test); };
  std::vector<std::string> notes = {
      "sequence accuracy, in distribution / out of distribution, mean over seeds and splits"};
  if (any([](const SummaryRow& row) { return !unfinished(row) && not_learned(row); })) {
    notes.push_back(fmt::format(
        "not learned: in distribution most seeds are under {}, so nothing follows for the encoding out of it; train "
        "longer, or see every accuracy with 'report --format csv'",
        kLearned));
  }
  if (any([](const SummaryRow& row) { return row.diverged > 0; })) {
    notes.push_back("d: the loss of one or more seeds diverged; they count as 0");
  }
  if (any([](const SummaryRow& row) { return row.failed > 0; })) {
    notes.push_back("f: one or more seeds failed; they count as 0");
  }
  if (any([](const SummaryRow& row) { return !row.in_distribution || !row.out_of_distribution; })) {
    notes.push_back("-: the task has no such split");
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

Table seed_table(const Report& report, const Summary& summary) {
  Table table{.columns = {{"task"}, {"encoding"}, {"seed", Align::right}, {"split"}, {"kind"}, {"status"}}};
  for (const char* header :
       {"sequence", "sequence_correct", "sequence_total", "sequence_low", "sequence_high", "token", "token_correct",
        "token_total", "token_low", "token_high", "above_trivial", "parameters", "steps", "final_loss"}) {
    table.columns.push_back({header, Align::right});
  }
  std::map<ExperimentId, const ExperimentResult*> experiments;
  for (const ExperimentResult& experiment : report.experiments) experiments[experiment.id] = &experiment;
  for (const SummaryRow& row : summary.rows) {
    for (size_t seed = 0; seed < row.seeds.size(); ++seed) {
      const ExperimentResult& experiment = *experiments.at({row.task, row.encoding, row.seeds[seed]});
      for (const SplitSummary& split : row.splits) table.rows.push_back(seed_cells(row, split, seed, experiment));
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
