#include "results/presentation/encoding_card.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "results/document/page.h"
#include "results/document/table.h"
#include "results/presentation/accuracy_text.h"
#include "results/presentation/board_text.h"
#include "results/presentation/effective_length_text.h"
#include "results/presentation/over_tasks_text.h"
#include "results/statistics/learned.h"
#include "results/statistics/over_tasks.h"

namespace posbench {
namespace {

constexpr const char* kAboutScores =
    "score: token accuracy out of distribution, rescaled so that the best trivial predictor has 0 and the "
    "right answers have 1, mean over tasks. Tasks that were not learned count with their accuracy. The interval is a "
    "bootstrap over tasks and seeds.";
constexpr const char* kAboutTasks =
    "Mean: sequence accuracy out of distribution, over splits and seeds. It can be low where a length is kept, because "
    "splits may be longer or change other options. Tier 1 has the best encodings of a task, which "
    "its seeds cannot tell apart. Interquartile mean: mean of the middle half of all values of the encoding, with "
    "the 95 % interval over seeds; a task that it has not learned counts with its accuracy.";

bool is_not_learned(const BoardRow& row) { return row.status == Verdict::not_learned; }

/// Returns the tasks that `is_chosen`, best first.
template <class IsChosen>
std::vector<const BoardTask*> select_tasks(const Board& board, IsChosen is_chosen) {
  std::vector<const BoardTask*> tasks;
  for (const BoardTask& task : board.tasks) {
    if (is_chosen(task)) tasks.push_back(&task);
  }
  std::ranges::stable_sort(tasks, {}, [](const BoardTask* task) {
    const BoardRow& row = task->rows.front();
    return -(is_not_learned(row) ? row.in_distribution.value_or(0) : row.mean);
  });
  return tasks;
}

void add_best(const BoardTask& task, std::vector<Cell>& cells) {
  cells.emplace_back(best_name_text(task.summary));
  cells.emplace_back(task.summary.best ? accuracy_text(task.summary.best->mean) : "-");
}

/// Returns the unmarked tasks that the encoding has learned.
Table learned_table(const Board& board) {
  Table table{{{"task", Align::left, Names::tasks},
               {"tier"},
               {"effective length", Align::right},
               {"mean", Align::right},
               {"worst to best seed", Align::right},
               {"best encoding", Align::left, Names::encodings},
               {"its mean", Align::right}},
              {}};
  const auto is_learned = [](const BoardTask& task) {
    return task.mark.empty() && !is_not_learned(task.rows.front());
  };
  for (const BoardTask* task : select_tasks(board, is_learned)) {
    const BoardRow& row = task->rows.front();
    const Tone tone = row.tier == 1 ? Tone::good : Tone::plain;
    table.rows.push_back({{task->task, tone},
                          {row.tier ? tier_text(row) : "-", tone},
                          {headline_length(row) ? multiple_text(*headline_length(row)) : "no grid", tone},
                          {accuracy_text(row.mean), tone},
                          seed_range_text(row)});
    add_best(*task, table.rows.back());
  }
  return table;
}

/// Returns the tasks that it has not learned, and the marked ones.
Table other_table(const Board& board) {
  Table table{{{"task", Align::left, Names::tasks},
               {"in distribution", Align::right},
               {"learned by", Align::right},
               {"best encoding", Align::left, Names::encodings},
               {"its mean", Align::right}},
              {}};
  const auto is_other = [](const BoardTask& task) {
    return !task.mark.empty() || is_not_learned(task.rows.front());
  };
  for (const BoardTask* task : select_tasks(board, is_other)) {
    table.rows.push_back({task->task, in_distribution_text(task->rows.front()), learned_by_text(*task)});
    add_best(*task, table.rows.back());
  }
  return table;
}

/// Returns "cope on 65 tasks, out of distribution: tier 1 on 3, a lower tier on 4, ..., not learned on 28.
/// Interquartile mean over the 45 that an encoding of the board has learned: 0.60 (0.58 to 0.62)."
std::string overview_text(const Board& board) {
  const BoardRow& first = board.tasks.front().rows.front();
  const auto count = [&](auto test) {
    return std::ranges::count_if(
        board.tasks, [&](const BoardTask& task) { return task.mark.empty() && test(task.rows.front()); });
  };
  std::vector<std::string> counts;
  const auto add = [&](const std::string& what, std::ptrdiff_t tasks) {
    if (tasks > 0) counts.push_back(fmt::format("{} on {}", what, tasks));
  };
  add("tier 1", count([](const BoardRow& row) { return row.tier == 1; }));
  add("a lower tier", count([](const BoardRow& row) { return row.tier && *row.tier > 1; }));
  add("too few seeds for a tier", count([](const BoardRow& row) { return row.status == Verdict::too_few_seeds; }));
  add("not learned", count(is_not_learned));
  std::string text =
      fmt::format("{} on {} tasks, {}: {}.", name_text(first), board.tasks.size() - marked_tasks(board).size(),
                  split_title(board.options), fmt::join(counts, ", "));
  const OverTasks over = summarize_over_tasks(board);
  if (!over.rows.empty()) {
    text += fmt::format(" Interquartile mean over the {} that an encoding of the board has learned: {}.",
                        over.tasks.size(), estimate_text(over.rows.front().interquartile_mean));
  }
  if (!over.marked.empty()) text += " " + marked_text(over.marked);
  return text;
}

/// Returns a table of the tasks that the encoding has learned, and one of the others, which are not learned or
/// marked. The best task is first, the worst last. Each row also has the best encoding of its task and its mean.
std::vector<Document::Block> overview_blocks(const Board& board) {
  std::vector<Document::Block> blocks;
  const auto add = [&](std::string title, Table table) {
    if (table.rows.empty()) return;
    blocks.push_back(Text{std::move(title)});
    blocks.push_back(std::move(table));
  };
  add("Learned in distribution, best first:", learned_table(board));
  add(fmt::format(
          "Not learned in distribution, or marked control or open, best first (in brackets, how much validation "
          "accuracy still rose in the last {:.0f} % of training):",
          100 * kLateTraining),
      other_table(board));
  return blocks;
}

/// Returns in which tasks the encoding is strong and weak. Marked tasks do not count.
std::string short_text(const EncodingCard& card) {
  constexpr double kLong = 2, kLow = 0.1;  // multiple of the trained length, mean accuracy
  std::vector<std::string> learned, low, kept;
  size_t with_grid = 0;
  for (const BoardTask& task : card.board.tasks) {
    const BoardRow& row = task.rows.front();
    if (!task.mark.empty() || is_not_learned(row)) continue;
    learned.push_back(task.task);
    if (row.mean < kLow) low.push_back(task.task);
    const std::optional<EffectiveLength>& length = headline_length(row);
    with_grid += length.has_value();
    if (length && length->multiple >= kLong) kept.push_back(task.task);
  }
  std::string text = fmt::format("In short: it learns {} of {} tasks in distribution.", learned.size(),
                                 card.board.tasks.size() - marked_tasks(card.board).size());
  if (with_grid > 0) {
    text += fmt::format(" It keeps twice the trained length on {} of the {} that have a grid of lengths{}.",
                        kept.size(), with_grid, kept.empty() ? "" : ": " + some_names(kept));
  }
  if (!low.empty()) {
    text += fmt::format(" It has less than {:.2f} of the sequences right out of distribution on {}: {}.", kLow,
                        low.size(), some_names(low));
  }
  const std::string cost = cost_text(card.board.tasks.front().rows.front());
  return cost.empty() ? text : fmt::format("{} A training step costs {} that of plain attention.", text, cost);
}

std::string scores_text(const EncodingCard& card) {
  std::string text = kAboutScores;
  if (!marked_tasks(card.board).empty()) text += " Tasks marked control or open do not count.";
  if (std::ranges::any_of(card.aspects, [](const AspectScore& score) { return score.tasks < score.of; }))
    text += " This encoding ran only some tasks of an aspect. Do not compare that score with another encoding's.";
  return text;
}

Table aspect_table(const std::vector<AspectScore>& scores) {
  Table table{.columns = make_columns({"aspect"}, {"score", "95 %", "tasks", "learned"})};
  for (const AspectScore& score : scores) {
    table.rows.push_back({score.aspect, accuracy_text(score.mean),
                          fmt::format("{:.2f} to {:.2f}", score.interval.low, score.interval.high),
                          fmt::format("{} of {}", score.tasks, score.of), fmt::format("{}", score.learned)});
  }
  return table;
}

Plot aspect_plot(const EncodingCard& card) {
  Plot plot{.kind = "dots",
            .title = "Scores by aspect",
            .about = scores_text(card),
            .columns = {{"row", "aspect"},
                        {"series", "quantity"},
                        {"value", "score"},
                        {"low", "low"},
                        {"high", "high"},
                        {"tasks", "tasks"},
                        {"learned", "learned"}}};
  plot.signals = {{"x_title", "score"}, {"zero", true}};
  for (const AspectScore& score : card.aspects) {
    plot.add_row({score.aspect, "score and 95 % interval", score.mean, score.interval.low, score.interval.high,
                  score.tasks, score.learned});
  }
  return plot;
}

/// Returns a plot of the learned tasks, the best first.
Plot task_plot(const EncodingCard& card) {
  Plot plot{
      .kind = "dots",
      .title = "Accuracy on the learned tasks",
      .about =
          "Sequence accuracy out of distribution. A dot is the mean over seeds; its line extends from the worst "
          "seed to the best.",
      .columns = {{"row", "task"}, {"series", "standing"}, {"value", "mean"}, {"low", "worst"}, {"high", "best"}}};
  plot.signals = {{"x_title", "sequence accuracy"}, {"zero", true}};
  const auto is_learned = [](const BoardTask& task) { return !is_not_learned(task.rows.front()); };
  for (const BoardTask* task : select_tasks(card.board, is_learned)) {
    const BoardRow& row = task->rows.front();
    const auto [worst, best] = std::ranges::minmax(row.values);
    plot.add_row({task->task, row.tier ? row.tier == 1 ? "tier 1" : "lower tier" : to_string(row.status), row.mean,
                  worst, best});
  }
  return plot;
}

}  // namespace

EncodingCard make_card(const std::string& encoding, const BoardReport& all, Board board,
                       const std::vector<AspectTasks>& aspects) {
  EncodingCard card{
      .name = encoding, .aspects = score_aspects(all.report, encoding, aspects), .board = std::move(board)};
  for (BoardTask& task : card.board.tasks) {
    std::erase_if(task.rows, [&](const BoardRow& row) { return row.encoding != encoding; });
    task.other_models.clear();
    task.summary.other_models.clear();
  }
  std::erase_if(card.board.tasks, [](const BoardTask& task) { return task.rows.empty(); });
  return card;
}

std::vector<Document::Block> card_summary(const EncodingCard& card) {
  if (card.board.tasks.empty())
    return {Text{
        fmt::format("The board has no result of it. 'posbench run -e {}' makes some.", for_shell(card.name))}};
  std::vector<Document::Block> blocks{Text{short_text(card)}};
  blocks.push_back(Heading{"Scores by aspect"});
  blocks.push_back(aspect_table(card.aspects));
  blocks.push_back(Note{scores_text(card)});
  return blocks;
}

std::vector<Document::Block> card_details(const EncodingCard& card) {
  if (card.board.tasks.empty()) return {};
  std::vector<Document::Block> blocks{Heading{"Results on each task"}, Text{overview_text(card.board)}};
  std::ranges::move(overview_blocks(card.board), std::back_inserter(blocks));
  blocks.push_back(Note{"effective length: " + length_note()});
  blocks.push_back(Note{kAboutTasks});
  return blocks;
}

Page card_page(const EncodingCard& card) {
  return {.sections = {{"Plots", "", {aspect_plot(card), task_plot(card)}}}, .plots_first = true};
}

Json to_json(const EncodingCard& card, const BoardTexts& texts) {
  Json json;
  json["aspects"] = write_list(card.aspects, [](const AspectScore& score) {
    return Json{{"aspect", score.aspect},      {"score", score.mean},  {"low", score.interval.low},
                {"high", score.interval.high}, {"tasks", score.tasks}, {"of", score.of},
                {"learned", score.learned}};
  });
  json["effective_lengths"] = Json::array();
  for (const BoardTask& task : card.board.tasks) {
    const BoardRow& row = task.rows.front();
    if (!row.effective_length) continue;
    Json length = to_json(*row.effective_length);
    length["task"] = task.task;
    length["far"] = row.effective_far ? to_json(*row.effective_far) : Json(nullptr);
    length["learned"] = row.learned.by_half_the_seeds();
    json["effective_lengths"].push_back(std::move(length));
  }
  json["board"] = to_json(card.board, texts, {});
  return json;
}

}  // namespace posbench
