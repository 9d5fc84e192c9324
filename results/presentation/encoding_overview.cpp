#include "results/presentation/encoding_overview.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "results/presentation/accuracy_text.h"
#include "results/presentation/board_text.h"
#include "results/presentation/effective_length_text.h"
#include "results/presentation/over_tasks_text.h"
#include "results/statistics/compare.h"
#include "results/statistics/learned.h"
#include "results/statistics/over_tasks.h"

namespace posbench {
namespace {

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

}  // namespace

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
  add("not learned", count([](const BoardRow& row) { return row.status == Verdict::not_learned; }));
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

}  // namespace posbench
