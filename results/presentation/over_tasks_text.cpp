#include "results/presentation/over_tasks_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/text.h"
#include "results/presentation/accuracy_text.h"
#include "results/presentation/board_text.h"
#include "results/statistics/learned.h"
#include "results/types/metric.h"

namespace posbench {
namespace {

std::string name_text(const OverTasksRow& row) { return row.is_users ? row.encoding + " *" : row.encoding; }

size_t count_learned(const OverTasksRow& row) {
  return static_cast<size_t>(std::ranges::count(row.learned, true));
}

Json write_estimate(const Estimate& estimate) {
  return {{"value", round_for_page(estimate.value)},
          {"low", round_for_page(estimate.interval.low)},
          {"high", round_for_page(estimate.interval.high)}};
}

/// Returns a plot of one estimate for each row that has it.
template <class Get>
Plot dots(const OverTasks& over, const char* title, const std::string& about, Get get) {
  Plot plot{
      .kind = "dots",
      .title = title,
      .about = about,
      .columns = {
          {"row", "encoding"}, {"series", "quantity"}, {"value", "value"}, {"low", "low"}, {"high", "high"}}};
  plot.signals = {{"x_title", title}, {"zero", true}};
  for (const OverTasksRow& row : over.rows) {
    const std::optional<Estimate> estimate = get(row);
    if (!estimate) continue;
    plot.add_row({row.encoding, title, estimate->value, estimate->interval.low, estimate->interval.high});
  }
  return plot;
}

Plot profiles(const OverTasks& over) {
  Plot plot{
      .kind = "curve",
      .title = "Performance profiles",
      .about =
          "The fraction of seeds whose value is above a threshold, as the mean over tasks; without intervals.",
      .columns = {{"name", "encoding"}, {"x", "threshold"}, {"y", "fraction above"}, {"values", "of each seed"}}};
  plot.signals = {{"x_title", "threshold"}, {"y_title", "fraction above"}};
  const std::vector<double> thresholds = profile_thresholds();
  for (const OverTasksRow& row : over.rows) {
    for (size_t n = 0; n < thresholds.size(); ++n)
      plot.add_row({row.encoding, thresholds[n], row.profile[n], Json::array()});
  }
  return plot;
}

}  // namespace

std::string estimate_text(const Estimate& estimate) {
  return fmt::format("{} ({:.2f} to {:.2f})", accuracy_text(estimate.value), estimate.interval.low,
                     estimate.interval.high);
}

Table over_tasks_table(const OverTasks& over) {
  Table table{.columns = make_columns({"encoding"}, {"interquartile mean", "first is better", "learned"})};
  for (const OverTasksRow& row : over.rows) {
    const PairOverTasks pair = &row == &over.rows[0] ? PairOverTasks() : compare_over_tasks(over.rows[0], row);
    table.rows.push_back({name_text(row), estimate_text(row.interquartile_mean),
                          pair.first_is_better ? estimate_text(*pair.first_is_better) : "-",
                          fmt::format("{} of {}", count_learned(row), over.tasks.size())});
  }
  return table;
}

std::vector<std::string> over_tasks_notes(const OverTasks& over, const BoardOptions& options) {
  std::vector<std::string> notes;
  if (over.tasks.empty()) {
    notes.emplace_back("No encoding has learned any of these tasks, so there is no summary over tasks.");
  } else {
    notes.push_back(fmt::format("Over {} tasks, {}, {}, a value for each seed.", over.tasks.size(),
                                metric_info(options.metric).title, split_title(options)));
  }
  if (!over.marked.empty()) notes.push_back(marked_text(over.marked));
  if (!over.users.empty())
    notes.push_back(fmt::format("Left out, because only your reports have them: {}.", some_names(over.users)));
  if (over.tasks.empty()) return notes;
  if (!over.unlearned.empty())
    notes.push_back(fmt::format("Left out, because no encoding of the board has learned them: {}.",
                                some_names(over.unlearned)));
  if (!over.incomplete.empty()) {
    notes.push_back(fmt::format("Left out are {} of {} encodings, which did not run all of these tasks: {}.",
                                over.incomplete.size(), over.incomplete.size() + over.rows.size(),
                                some_names(over.incomplete)));
    if (!over.common.empty())
      notes.push_back(fmt::format("To compare all encodings, select the tasks that all of them ran: -t '{}'.",
                                  fmt::join(over.common, ", ")));
  }
  if (over.rows.empty()) return notes;
  notes.push_back(fmt::format(
      "learned: tasks on which at least half of the seeds have {} or more in distribution. A task that an encoding has not "
      "learned counts with the accuracy that it has, so a low value may only mean too little training. "
      "Experiments that did not finish count as 0.",
      kLearned));
  notes.push_back(
      "interquartile mean: mean of the middle half of all values of an encoding. first is better: probability that a seed of "
      "the first encoding has a higher value than one of this encoding on the same task, over the tasks that both have "
      "learned. In brackets, 95 % by resampling tasks and seeds; the first encoding is chosen by the same values, which "
      "the interval does not cover (Agarwal et al. 2021, arXiv:2108.13264).");
  return notes;
}

Section over_tasks_section(const OverTasks& over) {
  Section section{"Over all tasks", "", {}};
  section.plots.push_back(dots(over, "Interquartile mean", "Lines are 95 % intervals over tasks and seeds.",
                               [](const OverTasksRow& row) { return std::optional(row.interquartile_mean); }));
  if (over.rows.size() > 1) {
    section.plots.push_back(dots(
        over, "Probability that the first is better",
        fmt::format(
            "The first is {}. Only tasks that both have learned count. Lines are 95 % intervals over tasks and seeds.",
            over.rows[0].encoding),
        [&](const OverTasksRow& row) {
          return &row == &over.rows[0] ? std::nullopt : compare_over_tasks(over.rows[0], row).first_is_better;
        }));
  }
  section.plots.push_back(profiles(over));
  return section;
}

Json to_json(const OverTasks& over) {
  Json json;
  json["tasks"] = over.tasks;
  json["marked"] = over.marked;
  json["unlearned"] = over.unlearned;
  json["incomplete"] = over.incomplete;
  json["common"] = over.common;
  json["thresholds"] = profile_thresholds();
  json["encodings"] = write_list(over.rows, [&](const OverTasksRow& row) {
    Json item;
    item["encoding"] = row.encoding;
    item["own"] = row.is_users;
    item["learned"] = count_learned(row);
    item["interquartile_mean"] = write_estimate(row.interquartile_mean);
    Json& better = item["better_than"] = Json::object();  // the rows below
    for (const OverTasksRow* other = &row + 1; other != over.rows.data() + over.rows.size(); ++other) {
      const PairOverTasks pair = compare_over_tasks(row, *other);
      if (!pair.first_is_better) continue;
      better[other->encoding] = write_estimate(*pair.first_is_better);
      better[other->encoding]["tasks"] = pair.tasks;
    }
    item["profile"] = write_list(row.profile, round_for_page);
    return item;
  });
  return json;
}

}  // namespace posbench
