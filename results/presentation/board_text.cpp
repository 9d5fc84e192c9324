#include "results/presentation/board_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "results/presentation/accuracy_text.h"
#include "results/presentation/effective_length_text.h"
#include "results/statistics/compare.h"
#include "results/statistics/learned.h"
#include "results/statistics/tiers.h"

namespace posbench {
namespace {

bool any_row(const Board& board, const std::function<bool(const BoardRow&)>& test) {
  return std::ranges::any_of(board.tasks,
                             [&](const BoardTask& task) { return std::ranges::any_of(all_rows(task), test); });
}

bool any(const Board& board, Verdict status) {
  return any_row(board, [&](const BoardRow& row) { return row.status == status; });
}

bool has_effective_length(const BoardRow& row) { return row.effective_length.has_value(); }

double worst(const BoardRow& row) { return *std::ranges::min_element(row.values); }
double best(const BoardRow& row) { return *std::ranges::max_element(row.values); }

Json write_row(const BoardRow& row, const BoardTexts& texts) {
  Json json;
  json["encoding"] = row.encoding;
  json["family"] = texts.family ? texts.family(row.encoding) : "";
  if (texts.kernel) json["kernel"] = texts.kernel(row.encoding);
  json["own"] = row.is_users;
  json["tier"] = row.tier ? Json(*row.tier) : Json(nullptr);
  json["standing"] = row.tier ? "in tier" : status_text(row);
  json["unsettled"] = row.unsettled;
  json["mean"] = six_decimals_or_null(row.mean);
  json["values"] = write_list(row.values, six_decimals);
  json["in_distribution"] = six_decimals_or_null(row.in_distribution);
  json["effective_length"] = row.effective_length ? to_json(*row.effective_length) : Json(nullptr);
  json["effective_far"] = row.effective_far ? to_json(*row.effective_far) : Json(nullptr);
  json["learned"] = row.learned.seeds.correct;
  json["late_gain"] = six_decimals_or_null(row.learned.late_gain);
  json["unfinished"] = row.unfinished;
  json["cost"] = six_decimals_or_null(row.cost);
  return json;
}

}  // namespace

std::string split_title(const BoardTask& task) {
  return task.splits.size() == 1           ? task.splits.front()
         : task.split == "in_distribution" ? "in distribution"
                                           : "out of distribution";
}

std::string split_title(const BoardOptions& options) {
  return options.split == "in_distribution"       ? "in distribution"
         : options.split == "out_of_distribution" ? "out of distribution"
                                                  : options.split;
}

std::string name_text(const BoardRow& row) { return row.is_users ? row.encoding + " *" : row.encoding; }

std::string tier_text(const BoardRow& row) {
  return row.tier ? fmt::format("{}{}", *row.tier, row.unsettled ? " ?" : "") : status_text(row);
}

std::string seed_range_text(const BoardRow& row) {
  return fmt::format("{} to {}", accuracy_text(worst(row)), accuracy_text(best(row)));
}

std::string in_distribution_text(const BoardRow& row) {
  if (!row.in_distribution) return "-";
  std::string text = accuracy_text(*row.in_distribution);
  if (row.status != Verdict::not_learned || !row.learned.late_gain) return text;
  return fmt::format("{} ({:+.2f})", text, *row.learned.late_gain);
}

std::string status_text(const BoardRow& row) {
  if (row.is_other_model)
    return row.status == Verdict::not_learned ? "other model, " + to_string(row.status) : "other model";
  return row.tier ? fmt::format("tier {}", *row.tier) : to_string(row.status);
}

std::string cost_text(const BoardRow& row) { return row.cost ? fmt::format("{:.1f}x", *row.cost) : ""; }

std::string best_name_text(const BoardTaskSummary& summary) {
  constexpr double kAny = 0.005;  // tables show less as 0.00
  if (!summary.best || summary.best->mean < kAny) return "-";
  return summary.ties == 0 ? name_text(*summary.best)
                           : fmt::format("{} +{}", name_text(*summary.best), summary.ties);
}

std::string task_summary_text(const BoardTask& task, const BoardOptions& options) {
  const BoardTaskSummary& summary = task.summary;
  std::string text = task.mark.empty() ? "" : fmt::format("Marked {}: ", task.mark);
  text += fmt::format("{} of {} encodings learn it in distribution within {} steps", summary.learned,
                      summary.encodings, task.steps);
  std::string others = ".";
  if (!summary.other_models.empty())
    others += fmt::format(" Other models that learn it: {}.", fmt::join(summary.other_models, ", "));
  if (!summary.best) return text + others;
  const std::string of = fmt::format("{}, {}", metric_info(options.metric).title, split_title(task));
  const size_t count = summary.keep.size();
  if (count == 0) {
    return fmt::format("{}; no encoding has {:.2f} of {}: the best is {} with {}{}", text, kKept, of,
                       summary.best->encoding, accuracy_text(summary.best->mean), others);
  }
  return fmt::format("{}; {} {} {:.2f} or more of {}: {}{}", text, count, count == 1 ? "has" : "have", kKept, of,
                     some_names(summary.keep, 12), others);
}

std::string learned_by_text(const BoardTask& task) {
  const BoardTaskSummary& summary = task.summary;
  const bool shows_mark = summary.learned == 0 && !task.mark.empty();
  std::string text = shows_mark ? task.mark : fmt::format("{} of {}", summary.learned, summary.encodings);
  if (summary.other_models.size() > 2) return fmt::format("{}, {} models", text, summary.other_models.size());
  for (const std::string& name : summary.other_models) text += ", " + name;
  return text;
}

void add_note_of_other_models(const Board& board, std::vector<std::string>& notes) {
  std::set<std::string> names;
  for (const BoardTask& task : board.tasks)
    for (const BoardRow& row : task.other_models) names.insert(row.encoding);
  if (names.empty()) return;
  notes.push_back(fmt::format(
      "Other models, with the layers of a profile or of model.block: {}. They are in no tier and do not count among "
      "the encodings.",
      fmt::join(names, ", ")));
}

std::string marked_text(const std::vector<std::string>& tasks) {
  const bool is_one = tasks.size() == 1;
  return fmt::format("{} {} marked control or open {} not count: {}.", tasks.size(), is_one ? "task" : "tasks",
                     is_one ? "does" : "do", some_names(tasks));
}

Table board_summary(const Board& board) {
  Table table{.columns = {{"task", Align::left, Names::tasks},
                          {"learned by", Align::right},
                          {"best", Align::left, Names::encodings},
                          {"effective length", Align::right},
                          {"accuracy", Align::right},
                          {fmt::format("{:.2f} or more", kKept), Align::right},
                          {"steps", Align::right}}};
  for (const BoardTask& task : board.tasks) {
    const BoardTaskSummary& summary = task.summary;
    const Tone tone = summary.keep.empty() ? Tone::faint : Tone::plain;
    std::vector<std::string> best{"-", "-", "-"};
    if (summary.best) {
      const std::optional<EffectiveLength>& length = headline_length(*summary.best);
      best = {best_name_text(summary), length ? multiple_text(*length) : "no grid",
              accuracy_text(summary.best->mean)};
    }
    std::vector<Cell> cells{Cell{task.task, tone}, Cell{learned_by_text(task), tone}};
    for (const std::string& text : best) cells.emplace_back(text, tone);
    cells.emplace_back(fmt::format("{}", summary.keep.size()), tone);
    cells.emplace_back(fmt::format("{}", task.steps), tone);
    table.rows.push_back(std::move(cells));
  }
  return table;
}

Table board_table(const BoardTask& task, const BoardTexts& texts) {
  const std::vector<BoardRow> rows = all_rows(task);
  const auto seeds = [](const BoardRow& row) { return row.values.size(); };
  const bool differ =
      std::ranges::any_of(rows, [&](const BoardRow& row) { return seeds(row) != seeds(rows.front()); });
  Table table{.columns = {{"encoding"}, {"tier"}}};
  const bool has_lengths = std::ranges::any_of(rows, has_effective_length);
  if (has_lengths) table.columns.push_back({"effective length", Align::right});
  table.columns.push_back({split_title(task), Align::right});
  if (differ || rows.empty()) {
    table.columns.push_back({"worst to best seed", Align::right});
    table.columns.push_back({"seeds", Align::right});
  } else {
    table.columns.push_back({fmt::format("worst to best of {} seeds", seeds(rows.front())), Align::right});
  }
  table.columns.push_back({"in distribution", Align::right});
  table.columns.push_back({"cost", Align::right});
  if (texts.kernel) table.columns.push_back({"kernel"});
  for (const BoardRow& row : rows) {
    const bool unknown = row.status == Verdict::not_learned;
    const Tone tone = unknown ? Tone::faint : row.tier == 1 ? Tone::good : Tone::plain;
    const Tone best = row.tier == 1 ? Tone::good : Tone::plain;
    std::vector<Cell> cells{Cell{name_text(row), best}, Cell{tier_text(row), tone}};
    if (has_lengths) cells.emplace_back(effective_lengths_text(row), best);
    cells.emplace_back(unknown ? "-" : accuracy_text(row.mean), best);
    cells.emplace_back(unknown ? "-" : seed_range_text(row));
    if (differ) cells.push_back(fmt::format("{}", seeds(row)));
    cells.push_back(in_distribution_text(row));
    cells.push_back(row.cost ? cost_text(row) : "-");
    if (texts.kernel) cells.push_back(texts.kernel(row.encoding));
    table.rows.push_back(std::move(cells));
  }
  return table;
}

Table board_csv(const Board& board, const BoardTexts& texts) {
  Table table{
      .columns = make_columns({"task", "split", "encoding", "family", "own", "standing"},
                              {"tier", "mean", "worst", "best", "seeds", "in_distribution", "learned", "late_gain",
                               "unfinished", "cost", "unsettled", "effective_length", "length_tested_to",
                               "length_accuracy_4x", "effective_far", "far_tested_to", "far_accuracy_4x"})};
  for (const BoardTask& task : board.tasks) {
    for (const BoardRow& row : all_rows(task)) {
      std::vector<Cell>& cells = table.rows.emplace_back();
      cells = {task.task,
               task.split,
               row.encoding,
               texts.family ? texts.family(row.encoding) : "",
               row.is_users ? "yes" : "no",
               row.tier ? "in tier" : status_text(row),
               row.tier ? fmt::format("{}", *row.tier) : "",
               number_text(row.mean),
               number_text(worst(row)),
               number_text(best(row)),
               fmt::format("{}", row.values.size()),
               number_text(row.in_distribution),
               fmt::format("{}", row.learned.seeds.correct),
               number_text(row.learned.late_gain),
               fmt::format("{}", row.unfinished),
               number_text(row.cost),
               row.unsettled ? "yes" : "no"};
      for (const auto* length : {&row.effective_length, &row.effective_far}) {
        const EffectiveLength found = length->value_or(EffectiveLength{});
        const auto text = [&](std::optional<double> number) { return *length ? number_text(number) : ""; };
        cells.insert(cells.end(), {text(found.multiple), text(found.tested_to), text(found.accuracy)});
      }
    }
  }
  return table;
}

std::vector<std::string> board_summary_notes(const Board& board) {
  std::vector<std::string> notes{
      fmt::format("learned by: encodings of which at least half of the seeds have {} or more in distribution.",
                  kLearned),
      fmt::format(
          "best, {:.2f} or more: of those, by {}, {}, mean over seeds and splits. +2: two others are as good. -: none has "
          "0.005 or more.",
          kKept, metric_info(board.options.metric).title, split_title(board.options)),
      "effective length, of the best: " + length_note(),
      "steps: of training, at most; a task that none has learned may need more."};
  add_note_of_other_models(board, notes);
  if (!marked_tasks(board).empty()) notes.emplace_back(kAboutMarks);
  return notes;
}

std::string length_note() {
  return fmt::format(
      "the largest multiple of the trained length up to which at least half of the seeds have {} of the sequences "
      "right, and the accuracy at {}x; >=: no larger multiple was tested. 'posbench board -t TASK --full' has its "
      "interval. no grid: the length of the task is fixed, or multiples of it were not tested.",
      kKept, kShownMultiple);
}

std::vector<std::string> board_length_notes(const Board& board) {
  std::vector<std::optional<EffectiveLength>> lengths;
  for (const BoardTask& task : board.tasks) {
    for (const BoardRow& row : all_rows(task)) lengths.push_back(headline_length(row));
  }
  std::vector<std::string> notes;
  for (const std::string& note : effective_length_notes(lengths)) notes.push_back(note + ".");
  return notes;
}

std::string values_note(const BoardOptions& options) {
  return fmt::format("Values: {}, {}, mean over seeds and splits.", metric_info(options.metric).title,
                     split_title(options));
}

std::vector<std::string> board_notes(const Board& board) {
  std::vector<std::string> notes = {values_note(board.options)};
  if (any_row(board, [](const BoardRow& row) { return row.tier.has_value(); })) {
    notes.push_back(fmt::format(
        "tier: the seeds cannot tell these encodings from the best of them (exact permutation tests at 5 %, "
        "corrected by Benjamini and Hochberg), or the means are less than {} apart. All encodings of the task "
        "are compared, shown or not.",
        kTierDifference));
  }
  if (any_row(board, [](const BoardRow& row) { return row.unsettled; })) {
    notes.push_back(fmt::format(
        "?: an encoding of a later tier has a mean that is higher by more than {}; the seeds of this one differ so "
        "much that more are needed to tell it from the best of its tier.",
        kTierDifference));
  }
  if (any(board, Verdict::too_few_seeds)) {
    notes.push_back(
        fmt::format("too few seeds: fewer than {}, with which no test can tell encodings apart.", kEnoughSeeds));
  }
  if (any(board, Verdict::not_learned)) {
    notes.push_back(fmt::format(
        "not learned: most seeds are under {} in distribution, so the out-of-distribution accuracy says nothing about the "
        "encoding; in brackets, how much validation accuracy still rose in the last {:.0f} % of training.",
        kLearned, 100 * kLateTraining));
  }
  add_note_of_other_models(board, notes);
  if (any_row(board, [](const BoardRow& row) { return row.cost.has_value(); }))
    notes.push_back("cost: core time of a training step, plain attention is 1. Its machine is in the JSON.");
  if (any_row(board, [](const BoardRow& row) { return row.is_users; })) {
    notes.push_back(
        "*: from your reports. A cost that was not measured is estimated from the seconds of the experiments, tests "
        "included, relative to the seconds of encodings whose cost is known.");
  }
  return notes;
}

Json to_json(const Board& board, const BoardTexts& texts, const std::vector<std::string>& warnings) {
  Json json;
  json["schema_version"] = 1;
  json["split"] = board.options.split;
  json["metric"] = to_string(board.options.metric);
  json["cost_source"] = texts.cost_source;
  const auto write = [&](const BoardRow& row) { return write_row(row, texts); };
  json["tasks"] = write_list(board.tasks, [&](const BoardTask& task) {
    const BoardTaskSummary& summary = task.summary;
    return Json{{"task", task.task},
                {"about", texts.about ? texts.about(task.task) : ""},
                {"who_has_it", task_summary_text(task, board.options)},
                {"mark", task.mark.empty() ? Json(nullptr) : Json(task.mark)},
                {"learned", summary.learned},
                {"encodings", summary.encodings},
                {"keep", summary.keep},
                {"best", summary.best ? Json(summary.best->encoding) : Json(nullptr)},
                {"splits", task.splits},
                {"steps", task.steps},
                {"rows", write_list(task.rows, write)},
                {"other_models", write_list(task.other_models, write)}};
  });
  json["warnings"] = warnings;
  return json;
}

}  // namespace posbench
