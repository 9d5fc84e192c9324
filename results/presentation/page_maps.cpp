// Makes the sections of a page that have a value for each encoding, or for each encoding and task.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "results/presentation/accuracy_text.h"
#include "results/presentation/effective_length_text.h"
#include "results/presentation/page_sections.h"

namespace posbench {
namespace {

using Kind = std::optional<SplitSummary> SummaryRow::*;
using Accuracy = Spread SplitSummary::*;

/// Returns "not learned (+0.12)": how much validation accuracy rose late in training. Returns an empty text if
/// most seeds have learned the task.
std::string not_learned(const SummaryRow& row) {
  if (row.learned.by_half_the_seeds()) return "";
  return row.learned.late_gain ? fmt::format("not learned ({:+.2f})", *row.learned.late_gain) : "not learned";
}

/// Returns a map of encodings by tasks without rows, whose cells have these values, a mark, a text and a note.
Plot empty_map(const std::string& title, const std::string& about, const std::vector<Plot::Column>& values) {
  Plot plot{.kind = "heat", .title = title, .about = about, .columns = {{"row", "encoding"}, {"column", "task"}}};
  plot.columns.insert(plot.columns.end(), values.begin(), values.end());
  for (const auto& [key, label] :
       {std::pair{"mark", "unfinished"}, {"text", "shown"}, {"note", "in distribution"}})
    plot.columns.push_back({key, label});
  plot.details["cells"] = true;
  return plot;
}

/// Returns the rows of the summary in the order of the page: by encoding, then by task.
std::vector<const SummaryRow*> ordered_rows(const PageSource& source) {
  std::map<std::pair<std::string, std::string>, const SummaryRow*> rows;
  for (const SummaryRow& row : source.summary.rows) rows[{row.encoding, row.task}] = &row;
  std::vector<const SummaryRow*> ordered;
  for (const std::string& encoding : source.encodings) {
    for (const std::string& task : source.tasks) {
      if (const auto found = rows.find({encoding, task}); found != rows.end()) ordered.push_back(found->second);
    }
  }
  return ordered;
}

Plot heat_map(const PageSource& source, const std::string& title, Kind kind, Accuracy accuracy,
              const std::string& about) {
  Plot plot = empty_map(title, about,
                        {{"value", "accuracy"},
                         {"least", "worst seed"},
                         {"greatest", "best seed"},
                         {"low", "low"},
                         {"high", "high"},
                         {"solved", "seeds that solve it"},
                         {"seeds", "seeds"}});
  const bool is_out = kind == &SummaryRow::out_of_distribution;
  for (const SummaryRow* row : ordered_rows(source)) {
    if (!(row->*kind)) continue;
    const SplitSummary& split = *(row->*kind);
    const Spread& spread = split.*accuracy;
    const auto [least, greatest] = std::ranges::minmax(spread.values);
    plot.add_row({row->encoding, row->task, spread.mean, least, greatest, low_of(spread.interval),
                  high_of(spread.interval), split.solved, row->seeds.size(),
                  unfinished_letters(row->diverged > 0, row->failed > 0), accuracy_text(spread.mean),
                  is_out ? not_learned(*row) : ""});
  }
  return plot;
}

using Effective = std::optional<EffectiveLength> SummaryRow::*;

/// Returns a map of the encodings and the tasks that have a grid.
Plot effective_map(const PageSource& source, const char* title, const char* about, Effective kind) {
  Plot plot = empty_map(title, about,
                        {{"value", "multiple"},
                         {"low", "low"},
                         {"high", "high"},
                         {"tested_to", "tested to"},
                         {"accuracy", "accuracy at 4x"}});
  plot.signals["domain"] = {0, *std::rbegin(kGridMultiples)};
  const std::optional<Interval> no_interval;
  for (const SummaryRow* row : ordered_rows(source)) {
    if (!(row->*kind)) continue;
    const EffectiveLength& effective = *(row->*kind);
    const bool is_learned = row->learned.by_half_the_seeds();
    const std::optional<Interval>& interval = is_learned ? effective.interval : no_interval;
    plot.add_row({row->encoding, row->task, is_learned ? Json(effective.multiple) : Json(nullptr),
                  low_of(interval), high_of(interval), effective.tested_to, number_or_null(effective.accuracy),
                  unfinished_letters(row->diverged > 0, row->failed > 0),
                  is_learned ? multiple_text(effective.multiple, effective.tested_to) : "", not_learned(*row)});
  }
  return plot;
}

}  // namespace

Section map_section(const PageSource& source) {
  const std::string raw = "The fraction of sequences with every answer right, mean over seeds and splits.";
  const std::string above =
      "Token accuracy, rescaled so that 0 is the best predictor that does not read the question, and 1 is all right.";
  const std::string about = fmt::format(
      "The bar at the foot of a cell extends from its worst seed to its best, where the width of the cell is 0 to 1. "
      "Not learned: most seeds are under {} in distribution, so the out-of-distribution accuracy says nothing about the "
      "encoding. The table has this accuracy, and how much validation accuracy still rose in "
      "the last {:.0f} % of training. Cells are rounded, and only 1.00 means that nothing was wrong. After a value, d "
      "means that one or more seeds diverged, f that they failed; they count as 0.",
      kLearned, 100 * kLateTraining);
  constexpr Kind kIn = &SummaryRow::in_distribution, kOut = &SummaryRow::out_of_distribution;
  constexpr Accuracy kSequence = &SplitSummary::sequence, kAbove = &SplitSummary::above_trivial;
  return {"Encodings and tasks",
          about,
          {heat_map(source, "In distribution", kIn, kSequence, raw),
           heat_map(source, "Out of distribution", kOut, kSequence, raw),
           heat_map(source, "In distribution, above the trivial baseline", kIn, kAbove, above),
           heat_map(source, "Out of distribution, above the trivial baseline", kOut, kAbove, above)}};
}

Section ranking_section(const PageSource& source) {
  Plot plot{
      .kind = "dots",
      .title = "Mean rank",
      .about =
          "By sequence accuracy among the encodings of the same task; 1 is best, equal encodings share the mean of "
          "their ranks. Out of distribution, encodings that have not learned a task rank equally behind all others on it.",
      .columns = {{"row", "encoding"},
                  {"series", "splits"},
                  {"value", "mean rank"},
                  {"low", "low"},
                  {"high", "high"},
                  {"tasks", "tasks"}}};
  plot.signals = {{"x_title", "mean rank over tasks"}, {"zero", false}, {"also", {1, source.encodings.size()}}};
  std::map<std::string, const Ranking*> rows;
  for (const Ranking& row : source.summary.ranking) rows[row.encoding] = &row;
  const auto add = [&](const std::string& encoding, const char* series, const std::optional<MeanRank>& rank) {
    if (!rank || rank->tasks < 2 || rank->seeds < 2) return;  // they rank nothing
    plot.add_row({encoding, series, rank->mean, rank->interval.low, rank->interval.high, rank->tasks});
  };
  for (const std::string& encoding : source.encodings) {
    add(encoding, "out of distribution", rows.at(encoding)->out_of_distribution);
    add(encoding, "in distribution", rows.at(encoding)->in_distribution);
  }
  return {"Ranking", "Lines are 95 % intervals, by bootstrap over tasks and, within each, over seeds.", {plot}};
}

Section effective_length_section(const PageSource& source) {
  return {
      "Effective length and distance",
      "As in the results above; the table below each map has the intervals over seeds.",
      {effective_map(
           source, "Effective length, far",
           "The largest multiple of the trained length that at least half of the seeds keep if the evidence is "
           "anywhere in the sequence.",
           &SummaryRow::effective_far),
       effective_map(
           source, "Effective length",
           "The largest multiple of the trained length that at least half of the seeds keep, with the evidence "
           "as far away as in training.",
           &SummaryRow::effective_length),
       effective_map(
           source, "Effective distance",
           "The largest multiple of the trained distance that at least half of the seeds keep, at the trained "
           "length.",
           &SummaryRow::effective_distance)}};
}

}  // namespace posbench
