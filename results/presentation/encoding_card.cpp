#include "results/presentation/encoding_card.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "results/document/page.h"
#include "results/document/table.h"
#include "results/presentation/accuracy_text.h"
#include "results/presentation/effective_length_text.h"
#include "results/presentation/encoding_overview.h"

namespace posbench {
namespace {

constexpr int kFewTasks = 3;  // encodings that share fewer tasks are not called equal

constexpr const char* kAboutScores =
    "score: token accuracy out of distribution, rescaled so that the best trivial predictor has 0 and the "
    "right answers have 1, mean over tasks. Tasks that were not learned count with their accuracy. The interval is a "
    "bootstrap over tasks and seeds.";
constexpr const char* kNoLengths =
    "Effective lengths: none, because the reports of this encoding on the board have no grid of lengths "
    "(evaluation.grid). 'posbench run' with the profile quick measures them.";
constexpr const char* kAboutTasks =
    "Mean: sequence accuracy out of distribution, over splits and seeds. It can be low where a length is kept, because "
    "splits may be longer or change other options. Tier 1 has the best encodings of a task, which "
    "its seeds cannot tell apart. Cost: core time of a training step at the size of the profile quick; plain attention is "
    "1.";

/// Returns the encodings that share at least kFewTasks tiers with this one and are in no other tier on any task.
std::vector<std::string> find_equal(const Board& board, const std::string& encoding) {
  std::map<std::string, std::pair<int, int>> shared;  // tasks on which both have a tier, and the same tier
  for (const BoardTask& task : board.tasks) {
    const auto own = std::ranges::find(task.rows, encoding, &BoardRow::encoding);
    if (!task.mark.empty() || own == task.rows.end() || !own->tier) continue;
    for (const BoardRow& row : task.rows) {
      if (row.encoding == encoding || !row.tier) continue;
      auto& [both, same] = shared[row.encoding];
      ++both;
      same += row.tier == own->tier ? 1 : 0;
    }
  }
  std::vector<std::string> equal;
  for (const auto& [name, counts] : shared) {
    if (counts.first >= kFewTasks && counts.first == counts.second) equal.push_back(name);
  }
  return equal;
}

/// Returns the summary of one encoding, or nothing if its experiments have no grid.
std::optional<Summary> summarize_lengths(const Report& report, const std::string& encoding) {
  Report part;
  for (const ExperimentResult& experiment : report.experiments) {
    if (experiment.id.encoding == encoding) part.experiments.push_back(experiment);
  }
  if (std::ranges::all_of(part.experiments, [](const ExperimentResult& e) { return e.grids.empty(); }))
    return std::nullopt;
  for (const TaskBaseline& task : report.tasks) {
    if (std::ranges::any_of(part.experiments, [&](const auto& e) { return e.id.task == task.task; }))
      part.tasks.push_back(task);
  }
  return summarize(part);
}

/// Returns in which tasks the encoding is strong and weak. Marked tasks do not count.
std::string short_text(const EncodingCard& card) {
  constexpr double kLong = 2, kLow = 0.1;  // multiple of the trained length, mean accuracy
  std::vector<std::string> learned, low;
  for (const BoardTask& task : card.board.tasks) {
    const BoardRow& row = task.rows.front();
    if (!task.mark.empty() || row.status == Verdict::not_learned) continue;
    learned.push_back(task.task);
    if (row.mean < kLow) low.push_back(task.task);
  }
  std::vector<std::string> kept;
  size_t with_grid = 0;
  for (const SummaryRow& row : card.lengths ? card.lengths->rows : std::vector<SummaryRow>{}) {
    if (!row.effective_length || std::ranges::find(learned, row.task) == learned.end()) continue;
    ++with_grid;
    if (headline_length(row)->multiple >= kLong) kept.push_back(row.task);
  }
  std::string text = fmt::format("In short: it learns {} of {} tasks in distribution.", learned.size(),
                                 card.board.tasks.size() - marked_tasks(card.board).size());
  if (with_grid > 0) {
    text += fmt::format(" It keeps twice the trained length on {} of the {} that have a grid of lengths{}.",
                        kept.size(), with_grid, kept.empty() ? "" : fmt::format(": {}", fmt::join(kept, ", ")));
  }
  if (!low.empty()) {
    text += fmt::format(" It has less than {:.2f} of the sequences right out of distribution on {}: {}.", kLow,
                        low.size(), fmt::join(low, ", "));
  }
  return text;
}

std::string scores_text(const EncodingCard& card) {
  std::string text = kAboutScores;
  if (!marked_tasks(card.board).empty()) text += " Tasks marked control or open do not count.";
  if (std::ranges::any_of(card.aspects, [](const AspectScore& score) { return score.tasks < score.of; }))
    text += " This encoding ran only some tasks of an aspect. Do not compare that score with another encoding's.";
  return text;
}

Table aspect_table(const std::vector<AspectScore>& scores) {
  Table table{{{"aspect"},
               {"score", Align::right},
               {"95 %", Align::right},
               {"tasks", Align::right},
               {"learned", Align::right}},
              {}};
  for (const AspectScore& score : scores) {
    table.rows.push_back({score.aspect, accuracy_text(score.mean),
                          fmt::format("{:.2f} to {:.2f}", score.interval.low, score.interval.high),
                          fmt::format("{} of {}", score.tasks, score.of), fmt::format("{}", score.learned)});
  }
  return table;
}

/// Returns the effective lengths, the greatest first; then the tasks that were not learned or have no grid.
Table length_table(const Summary& lengths) {
  Table table{{{"task", Align::left, Names::tasks},
               {"effective length", Align::right},
               {"effective distance", Align::right}},
              {}};
  std::vector<const SummaryRow*> rows;
  for (const SummaryRow& row : lengths.rows) rows.push_back(&row);
  std::ranges::stable_sort(rows, {}, [](const SummaryRow* row) {
    const double multiple = row->effective_length ? headline_length(*row)->multiple : -1;
    return std::tuple(!row->effective_length, !row->learned.by_half_the_seeds(), -multiple);
  });
  for (const SummaryRow* row : rows) {
    table.rows.push_back(
        {row->task, effective_lengths_text(*row), effective_length_text(row->effective_distance, row->learned)});
  }
  return table;
}

/// Returns the definition of the effective length, or the reason why there is none.
std::string lengths_text(const EncodingCard& card) {
  return card.lengths ? fmt::format("{}.", fmt::join(effective_length_notes(*card.lengths), ". ")) : kNoLengths;
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
    plot.rows.push_back({score.aspect, "score and 95 % interval", round_for_page(score.mean),
                         round_for_page(score.interval.low), round_for_page(score.interval.high), score.tasks,
                         score.learned});
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
  std::vector<const BoardTask*> tasks;
  for (const BoardTask& task : card.board.tasks) {
    if (task.rows.front().status != Verdict::not_learned) tasks.push_back(&task);
  }
  std::ranges::stable_sort(tasks, {}, [](const BoardTask* task) { return -task->rows.front().mean; });
  for (const BoardTask* task : tasks) {
    const BoardRow& row = task->rows.front();
    const auto [worst, best] = std::ranges::minmax(row.values);
    plot.rows.push_back({task->task, row.tier ? row.tier == 1 ? "tier 1" : "lower tier" : to_string(row.status),
                         round_for_page(row.mean), round_for_page(worst), round_for_page(best)});
  }
  return plot;
}

}  // namespace

EncodingCard make_card(const std::string& encoding, const BoardReport& all, Board board,
                       const std::vector<AspectTasks>& aspects) {
  EncodingCard card{.name = encoding,
                    .aspects = score_aspects(all.report, encoding, aspects),
                    .board = std::move(board),
                    .lengths = summarize_lengths(all.report, encoding),
                    .equal = {}};
  card.equal = find_equal(card.board, encoding);
  for (BoardTask& task : card.board.tasks) {
    std::erase_if(task.rows, [&](const BoardRow& row) { return row.encoding != encoding; });
    task.recurrent.clear();
    task.summary.recurrent.clear();
  }
  std::erase_if(card.board.tasks, [](const BoardTask& task) { return task.rows.empty(); });
  return card;
}

std::vector<Document::Block> card_blocks(const EncodingCard& card) {
  if (card.board.tasks.empty()) {
    return {Heading{"Results on the board"},
            Text{fmt::format("The board has no result of it. 'posbench run -e {}' makes some.", card.name)}};
  }
  std::vector<Document::Block> blocks{Heading{"Results on the board"}, Text{short_text(card)},
                                      Text{overview_text(card.board)}};
  if (!card.equal.empty()) {
    blocks.push_back(Facts{{{"same tiers", fmt::format("{}", fmt::join(card.equal, ", ")), Names::encodings}}});
    blocks.push_back(Note{"same tiers: encodings in the same tier on every task that both have."});
  }
  blocks.push_back(Heading{"Scores by aspect"});
  blocks.push_back(aspect_table(card.aspects));
  blocks.push_back(Note{scores_text(card)});
  blocks.push_back(Heading{"Effective lengths"});
  if (card.lengths) blocks.push_back(length_table(*card.lengths));
  blocks.push_back(Note{lengths_text(card)});
  blocks.push_back(Heading{"Results on each task"});
  std::ranges::move(overview_blocks(card.board), std::back_inserter(blocks));
  blocks.push_back(Note{fmt::format("{} {}", kAboutTasks, kAboutInterquartileMean)});
  return blocks;
}

Page card_page(const EncodingCard& card) {
  return {.sections = {{"Plots", "", {aspect_plot(card), task_plot(card)}}}};
}

Json to_json(const EncodingCard& card, const BoardTexts& texts) {
  Json json;
  json["aspects"] = write_list(card.aspects, [](const AspectScore& score) {
    return Json{{"aspect", score.aspect},      {"score", score.mean},  {"low", score.interval.low},
                {"high", score.interval.high}, {"tasks", score.tasks}, {"of", score.of},
                {"learned", score.learned}};
  });
  json["effective_lengths"] = Json::array();
  for (const SummaryRow& row : card.lengths ? card.lengths->rows : std::vector<SummaryRow>{}) {
    if (!row.effective_length) continue;
    Json length = to_json(*row.effective_length);
    length["task"] = row.task;
    length["far"] = row.effective_far ? to_json(*row.effective_far) : Json(nullptr);
    length["learned"] = row.learned.by_half_the_seeds();
    json["effective_lengths"].push_back(std::move(length));
  }
  json["board"] = to_json(card.board, texts, {});
  json["equal"] = card.equal;
  return json;
}

}  // namespace posbench
