#include "results/presentation/board_document.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "results/presentation/accuracy_text.h"
#include "results/presentation/over_tasks_text.h"
#include "results/presentation/report_page.h"
#include "results/statistics/learned.h"
#include "results/statistics/over_tasks.h"

namespace posbench {
namespace {

Plot strip(const BoardTask& task, const BoardOptions& options) {
  Plot plot{.kind = "strip",
            .title = split_title(task),
            .about = task_summary_text(task, options),
            .columns = {{"row", "encoding"},
                        {"series", "standing"},
                        {"mean", "mean"},
                        {"values", "seeds"},
                        {"threshold", "threshold"},
                        {"need", "need"},
                        {"published", "published"},
                        {"in_distribution", "in distribution"},
                        {"cost", "cost"}}};
  Json labels = Json::object();
  for (const BoardRow& row : all_rows(task)) {
    plot.add_row({row.encoding, status_text(row), row.mean, row.values, nullptr, "", nullptr,
                  number_or_null(row.in_distribution), number_or_null(row.cost)});
    labels[row.encoding] = cost_text(row) + (row.unsettled ? " ?" : "");
  }
  plot.signals = {{"x_title", metric_info(options.metric).title}, {"labels", std::move(labels)}};
  plot.details["task"] = task.task;
  return plot;
}

/// Returns the mean out of distribution and each split, or only the split that the user gave.
std::vector<BoardOptions> shown_splits(const TaskBaseline& task, const BoardOptions& options) {
  std::vector<BoardOptions> all{options};
  if (options.split != to_string(SplitKind::out_of_distribution)) return all;
  for (const SplitBaseline& split : task.splits) {
    all.push_back(options);
    all.back().split = split.name;
  }
  if (task.splits.size() == 2) all.erase(all.begin());  // the mean is over one split, which has a plot of its own
  return all;
}

BoardReport of_task(const BoardReport& all, const TaskBaseline& task) {
  BoardReport one{.user_experiments = all.user_experiments, .costs = all.costs, .find_mark = all.find_mark};
  one.report.tasks = {task};
  for (const ExperimentResult& experiment : all.report.experiments) {
    if (experiment.id.task == task.task) one.report.experiments.push_back(experiment);
  }
  for (const ExperimentResult& experiment : all.other_models.experiments) {
    if (experiment.id.task == task.task) one.other_models.experiments.push_back(experiment);
  }
  return one;
}

/// Removes the rows that are not shown, and tasks that then have none. Tiers and counts stay those of all.
void hide_rows(Board& board, const ShowsRow& shows) {
  for (BoardTask& task : board.tasks) {
    const auto is_hidden = [&](const BoardRow& row) { return !shows(task.task, row.encoding); };
    std::erase_if(task.rows, is_hidden);
    std::erase_if(task.other_models, is_hidden);
  }
  std::erase_if(board.tasks, [](const BoardTask& task) { return task.rows.empty() && task.other_models.empty(); });
}

using Blocks = std::vector<Document::Block>;

/// Returns the task with the rows of its best encodings and those of the user.
BoardTask best_rows(BoardTask task) {
  constexpr size_t kRows = 10;
  size_t n = 0;
  std::erase_if(task.rows, [&](const BoardRow& row) { return n++ >= kRows && !row.is_users; });
  std::erase_if(task.other_models, [](const BoardRow& row) { return !row.is_users; });
  return task;
}

/// Adds the definition of the only task and its table, which is cut on a screen.
void add_task(const Board& board, const BoardTexts& words, Document& document) {
  const BoardTask& task = board.tasks.front();
  Blocks& blocks = document.blocks;
  blocks.emplace_back(Heading{fmt::format("{}, {}", task.task, split_title(task))});
  blocks.emplace_back(Text{words.about ? words.about(task.task) : ""});
  blocks.emplace_back(Text{task_summary_text(task, board.options)});
  if (BoardTask best = best_rows(task); best.rows.size() < task.rows.size()) {
    document.brief = blocks;
    document.brief.emplace_back(board_table(best, words));
    document.rest =
        fmt::format("the other {} encodings and the meaning of the columns", task.rows.size() - best.rows.size());
  }
  blocks.emplace_back(board_table(task, words));
  add_notes(board_length_notes(board), blocks);
}

/// Adds the means of the encodings over several tasks. A table of many tasks after them does not fit on a screen.
void add_over_tasks(const Board& board, const OverTasks& over, Document& document) {
  if (over.rows.empty() && over.incomplete.empty() && !over.tasks.empty()) return;  // only other models
  document.blocks.emplace_back(over_tasks_table(over));
  add_notes(over_tasks_notes(over, board.options), document.blocks);
  document.blocks.emplace_back(Note{"-t TASK prints the definition of a task and its rows."});
  if (board.tasks.size() <= 12) return;  // all fit on a screen
  document.brief = document.blocks;
  document.rest = fmt::format("a row for each of the {} tasks", board.tasks.size());
}

const BoardRow* find_row(const BoardTask& task, const std::string& encoding) {
  for (const std::vector<BoardRow>* rows : {&task.rows, &task.other_models}) {
    const auto found = std::ranges::find(*rows, encoding, &BoardRow::encoding);
    if (found != rows->end()) return &*found;
  }
  return nullptr;
}

/// Returns the mean, or 0 if the encoding has not learned or not run the task.
double value_of(const BoardTask& task, const std::string& encoding) {
  const BoardRow* row = find_row(task, encoding);
  return row == nullptr || row->status == Verdict::not_learned ? 0 : row->mean;
}

/// Returns true if the rows, the best of which is the first, are in different tiers.
bool has_different_tiers(const BoardTask& task) {
  return std::ranges::any_of(task.rows,
                             [&](const BoardRow& row) { return row.tier && row.tier != task.rows.front().tier; });
}

/// Returns the encodings and other models of all rows. Empty if they are more than four.
std::vector<std::string> few_encodings(const Board& board) {
  constexpr size_t kMost = 4;
  std::vector<std::string> encodings;
  for (const BoardTask& task : board.tasks) {
    for (const BoardRow& row : all_rows(task)) {
      if (std::ranges::find(encodings, row.encoding) == encodings.end()) encodings.push_back(row.encoding);
    }
  }
  if (encodings.size() > kMost) encodings.clear();
  return encodings;
}

/// Returns a row for each task, with the mean of each encoding. The tasks on which the first is furthest ahead
/// come first.
Table side_by_side_table(const Board& board, const std::vector<std::string>& encodings) {
  Table table{{{"task", Align::left, Names::tasks}}, {}};
  for (const std::string& encoding : encodings) table.columns.push_back({encoding, Align::right});
  const auto lead = [&](const BoardTask* task) {
    double best_other = 0;
    for (size_t n = 1; n < encodings.size(); ++n) best_other = std::max(best_other, value_of(*task, encodings[n]));
    return value_of(*task, encodings.front()) - best_other;
  };
  std::vector<const BoardTask*> tasks;
  for (const BoardTask& task : board.tasks) tasks.push_back(&task);
  std::ranges::stable_sort(tasks, std::greater(), lead);
  for (const BoardTask* task : tasks) {
    const bool differ = has_different_tiers(*task);
    std::vector<Cell> cells{Cell{task->task}};
    for (const std::string& encoding : encodings) {
      const BoardRow* row = find_row(*task, encoding);
      const bool is_best = row != nullptr && differ && row->tier && row->tier == task->rows.front().tier;
      cells.emplace_back(row == nullptr                        ? "-"
                         : row->status == Verdict::not_learned ? to_string(row->status)
                                                               : accuracy_text(row->mean),
                         is_best ? Tone::good : Tone::plain);
    }
    table.rows.push_back(std::move(cells));
  }
  return table;
}

/// Returns a sentence on the two encodings of the rows: on how many tasks the first is better, worse or undecided.
std::string better_text(const Board& board, const OverTasks& over) {
  const std::string &first = over.rows[0].encoding, &second = over.rows[1].encoding;
  size_t better = 0, worse = 0, higher = 0, lower = 0;
  for (const std::string& name : over.tasks) {
    const BoardTask& task = *std::ranges::find(board.tasks, name, &BoardTask::task);
    const BoardRow &a = *find_row(task, first), &b = *find_row(task, second);
    better += a.tier && b.tier && *a.tier < *b.tier;
    worse += a.tier && b.tier && *a.tier > *b.tier;
    higher += a.mean > b.mean;
    lower += a.mean < b.mean;
  }
  const PairOverTasks pair = compare_over_tasks(over.rows[0], over.rows[1]);
  std::string text = fmt::format(
      "Over {} tasks {} has the higher mean than {} on {} and the lower on {}; by its tier it is better on {}, worse on {} and "
      "undecided on {}.",
      over.tasks.size(), first, second, higher, lower, better, worse, over.tasks.size() - better - worse);
  if (!pair.first_is_better) return text;
  return text + fmt::format(" On the {} that both have learned, a seed of {} is better with a probability of {}.",
                            pair.tasks, first, estimate_text(*pair.first_is_better));
}

std::vector<std::string> side_by_side_notes(const Board& board) {
  return {
      values_note(board.options),
      fmt::format("not learned: most seeds are under {} in distribution, so the out-of-distribution accuracy says "
                  "nothing about the encoding. The order of the rows takes it as 0.",
                  kLearned)};
}

/// Adds the means of a few encodings over several tasks, and a row for each task. The best is first.
void add_few(const Board& board, std::vector<std::string> encodings, Document& document) {
  const OverTasks over = summarize_over_tasks(board);
  std::ranges::stable_sort(encodings, {}, [&](const std::string& encoding) {
    return std::ranges::find(over.rows, encoding, &OverTasksRow::encoding) - over.rows.begin();
  });
  if (over.rows.size() == 2) document.blocks.emplace_back(Text{better_text(board, over)});
  std::vector<std::string> notes;
  add_note_of_other_models(board, notes);
  add_notes(notes, document.blocks);
  add_over_tasks(board, over, document);
  document.blocks.emplace_back(side_by_side_table(board, encodings));
  add_notes(side_by_side_notes(board), document.blocks);
}

void add_blocks(const Board& board, const BoardTexts& words, Document& document) {
  Blocks& blocks = document.blocks;
  if (board.tasks.size() == 1) {
    add_task(board, words, document);
    return add_notes(board_notes(board), blocks);
  }
  if (const std::vector<std::string> few = few_encodings(board); !few.empty())
    return add_few(board, few, document);
  add_over_tasks(board, summarize_over_tasks(board), document);
  blocks.emplace_back(board_summary(board));
  add_notes(board_summary_notes(board), blocks);
}

/// Returns for each task a plot of the seeds of every encoding, by tier and with its cost, for the mean out of
/// distribution and for each split; then plots over all tasks and those of a report.
Page make_page(const BoardReport& all, const Board& board, const BoardTexts& texts, const ShowsRow& shows) {
  Page page{.title = "The board of position encodings"};
  if (board.tasks.size() > 1) page.sections.push_back(over_tasks_section(summarize_over_tasks(board)));
  for (const TaskBaseline& task : all.report.tasks) {
    Section section{task.task, texts.about ? texts.about(task.task) : "",
                    seed_plots(all, task, board.options, shows)};
    for (Plot& plot : section.plots) plot.details["screen"] = board.tasks.size() > 1;
    page.sections.push_back(std::move(section));
  }
  Report shown = all.report;
  std::erase_if(shown.experiments, [&](const ExperimentResult& e) { return !shows(e.id.task, e.id.encoding); });
  add_report_plots(shown, {.family = texts.family, .style = texts.style}, AddedSections::board, page);
  return page;
}

}  // namespace

Document make_board_document(const BoardReport& all, Board board, const BoardTexts& words, const ShowsRow& shows) {
  hide_rows(board, shows);
  if (board.tasks.empty())
    throw InputError(fmt::format("the board has no result of these tasks, encodings and family; select others{}",
                                 all.warnings.empty() ? "" : fmt::format(" ({})", fmt::join(all.warnings, "; "))));
  Document document;
  add_notes(all.warnings, document.blocks);
  add_blocks(board, words, document);
  document.rows = [=] { return board_csv(board, words); };
  document.json = [=, &all] {
    Json json = to_json(board, words, all.warnings);
    if (board.tasks.size() > 1) json["over_tasks"] = to_json(summarize_over_tasks(board));
    return json;
  };
  document.page = [=, &all] { return make_page(all, board, words, shows); };
  document.find_page = [](Names names, const std::string& name) {
    return names == Names::tasks ? "#open=" + name : "";
  };
  return document;
}

std::vector<Plot> seed_plots(const BoardReport& all, const TaskBaseline& task, const BoardOptions& options,
                             const ShowsRow& shows) {
  const BoardReport one = of_task(all, task);
  std::vector<Plot> plots;
  for (const BoardOptions& split : shown_splits(task, options)) {
    Board board = make_board(one, split);
    hide_rows(board, shows);
    if (!board.tasks.empty()) plots.push_back(strip(board.tasks[0], split));
  }
  return plots;
}

}  // namespace posbench
