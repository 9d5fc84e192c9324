#include "results/presentation/encoding_overview.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <set>
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
#include "results/statistics/tiers.h"

namespace posbench {
namespace {

constexpr BoardStatus kStatuses[] = {BoardStatus::in_tier, BoardStatus::too_few_seeds, BoardStatus::not_learned};

/// Returns the row of a task that has just one.
const BoardRow& only_row(const BoardTask& task) {
  return task.rows.empty() ? task.recurrent.front() : task.rows.front();
}

std::string title(BoardStatus status, bool is_recurrent) {
  switch (status) {
    case BoardStatus::in_tier:
      return is_recurrent ? "Learned in distribution, best first:" : "In a tier, best first:";
    case BoardStatus::too_few_seeds:
      return fmt::format("Fewer than {} seeds, so in no tier, best first:", kEnoughSeeds);
    case BoardStatus::not_learned:
      return "Not learned in distribution, best first:";
  }
  return "";
}

/// Returns the tasks that `is_chosen`, best first.
std::vector<const BoardTask*> select_tasks(const Board& board,
                                           const std::function<bool(const BoardTask&)>& is_chosen) {
  std::vector<const BoardTask*> tasks;
  for (const BoardTask& task : board.tasks) {
    if (is_chosen(task)) tasks.push_back(&task);
  }
  const auto place = [](const BoardTask* task) {
    const BoardRow& row = only_row(*task);
    const double shown = row.status == BoardStatus::not_learned ? row.in_distribution.value_or(0) : row.mean;
    return -shown;
  };
  std::ranges::stable_sort(tasks, {}, place);
  return tasks;
}

Table make_table(const std::vector<const BoardTask*>& tasks, BoardStatus status, bool with_lengths) {
  Table table{{{"task", Align::left, Names::tasks}}, {}};
  const bool has_lengths = with_lengths && std::ranges::any_of(tasks, [](const BoardTask* task) {
                             return only_row(*task).effective_length.has_value();
                           });
  const bool has_tiers = status == BoardStatus::in_tier && !only_row(*tasks.front()).is_recurrent;
  if (has_tiers) table.columns.push_back({"tier"});
  if (status == BoardStatus::not_learned) {
    table.columns.push_back({"in distribution", Align::right});
    table.columns.push_back({"learned by", Align::right});
  } else {
    if (has_lengths) table.columns.push_back({"effective length", Align::right});
    table.columns.push_back({"mean", Align::right});
    table.columns.push_back({"worst to best seed", Align::right});
  }
  table.columns.push_back({"best encoding", Align::left, Names::encodings});
  table.columns.push_back({"its mean", Align::right});
  for (const BoardTask* task : tasks) {
    const BoardRow& row = only_row(*task);
    const Tone tone = row.tier == 1 ? Tone::good : Tone::plain;
    std::vector<Cell> cells{Cell{task->task, tone}};
    if (has_tiers) cells.emplace_back(tier_text(row), tone);
    if (status == BoardStatus::not_learned) {
      cells.emplace_back(in_distribution_text(row));
      cells.emplace_back(learned_by_text(*task));
    } else {
      if (has_lengths) cells.emplace_back(effective_length_text(row.effective_length, row.learned), tone);
      cells.emplace_back(accuracy_text(row.mean), tone);
      cells.emplace_back(seed_range_text(row));
    }
    cells.emplace_back(best_name_text(task->summary));
    cells.emplace_back(task->summary.best ? accuracy_text(task->summary.best->mean) : "-");
    table.rows.push_back(std::move(cells));
  }
  return table;
}

const BoardRow* find_row(const BoardTask& task, const std::string& encoding) {
  for (const std::vector<BoardRow>* rows : {&task.rows, &task.recurrent}) {
    const auto found = std::ranges::find(*rows, encoding, &BoardRow::encoding);
    if (found != rows->end()) return &*found;
  }
  return nullptr;
}

/// Returns the mean, or 0 if the encoding has not learned or not run the task.
double value_of(const BoardTask& task, const std::string& encoding) {
  const BoardRow* row = find_row(task, encoding);
  return row == nullptr || row->status == BoardStatus::not_learned ? 0 : row->mean;
}

/// Returns true if the encodings are in different tiers.
bool has_different_tiers(const BoardTask& task, const std::vector<std::string>& encodings) {
  std::set<int> tiers;
  for (const std::string& encoding : encodings) {
    const BoardRow* row = find_row(task, encoding);
    if (row != nullptr && row->tier) tiers.insert(*row->tier);
  }
  return tiers.size() > 1;
}

}  // namespace

bool has_one_encoding(const Board& board) {
  return std::ranges::all_of(board.tasks, [&](const BoardTask& task) {
    return task.rows.size() + task.recurrent.size() == 1 &&
           only_row(task).encoding == only_row(board.tasks.front()).encoding;
  });
}

std::string overview_text(const Board& board) {
  const BoardRow& first = only_row(board.tasks.front());
  const auto count = [&](auto test) {
    return std::ranges::count_if(board.tasks,
                                 [&](const BoardTask& task) { return task.mark.empty() && test(only_row(task)); });
  };
  std::vector<std::string> counts;
  const auto add = [&](const std::string& what, std::ptrdiff_t tasks) {
    if (tasks > 0) counts.push_back(fmt::format("{} on {}", what, tasks));
  };
  add("learned",
      count([](const BoardRow& row) { return row.is_recurrent && row.status != BoardStatus::not_learned; }));
  add("tier 1", count([](const BoardRow& row) { return row.tier == 1; }));
  add("a lower tier", count([](const BoardRow& row) { return row.tier && *row.tier > 1; }));
  add("too few seeds for a tier",
      count([](const BoardRow& row) { return row.status == BoardStatus::too_few_seeds; }));
  add("not learned", count([](const BoardRow& row) { return row.status == BoardStatus::not_learned; }));
  std::string text =
      fmt::format("{} on {} tasks, {}: {}.", name_text(first), board.tasks.size() - marked_tasks(board).size(),
                  split_title(board.options), fmt::join(counts, ", "));
  const OverTasks over = summarize_over_tasks(board);
  if (!over.rows.empty()) {
    text += fmt::format(" Interquartile mean over the {} that an encoding of the board has learned: {}.",
                        over.tasks.size(), estimate_text(over.rows.front().interquartile_mean));
  }
  if (!over.marked.empty()) text += " " + marked_text(over.marked);
  if (first.cost) text += fmt::format(" Cost: {}.", cost_text(first));
  return text;
}

std::vector<OverviewTable> overview_tables(const Board& board, bool with_lengths) {
  std::vector<OverviewTable> tables;
  for (const BoardStatus status : kStatuses) {
    const std::vector<const BoardTask*> tasks = select_tasks(
        board, [&](const BoardTask& task) { return task.mark.empty() && only_row(task).status == status; });
    if (tasks.empty()) continue;
    std::string heading = title(status, only_row(*tasks.front()).is_recurrent);
    const bool has_gain = std::ranges::any_of(
        tasks, [](const BoardTask* task) { return only_row(*task).learned.late_gain.has_value(); });
    if (status == BoardStatus::not_learned && has_gain) {
      heading.insert(
          heading.size() - 1,
          fmt::format(" (in brackets, how much validation accuracy still rose in the last {:.0f} % of training)",
                      100 * kLateTraining));
    }
    tables.push_back({std::move(heading), make_table(tasks, status, with_lengths)});
  }
  const std::vector<const BoardTask*> marked =
      select_tasks(board, [](const BoardTask& task) { return !task.mark.empty(); });
  if (!marked.empty()) {
    tables.push_back(
        {"Marked control or open, not counted:", make_table(marked, BoardStatus::not_learned, with_lengths)});
  }
  return tables;
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
  Table table{{{"task"}}, {}};
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
    const bool differ = has_different_tiers(*task, encodings);
    std::vector<Cell> cells{Cell{task->task}};
    for (const std::string& encoding : encodings) {
      const BoardRow* row = find_row(*task, encoding);
      const bool is_best = row != nullptr && differ && row->tier && row->tier == task->rows.front().tier;
      cells.emplace_back(row == nullptr                            ? "-"
                         : row->status == BoardStatus::not_learned ? "not learned"
                                                                   : accuracy_text(row->mean),
                         is_best ? Tone::good : Tone::plain);
    }
    table.rows.push_back(std::move(cells));
  }
  return table;
}

std::string side_by_side_text(const Board& board, const std::vector<std::string>& encodings) {
  std::map<std::string, size_t> learned, best;
  size_t tasks = 0, learned_by_all = 0, apart = 0;
  for (const BoardTask& task : board.tasks) {
    const auto has_run = [&](const std::string& encoding) { return find_row(task, encoding) != nullptr; };
    if (!task.mark.empty() || !std::ranges::all_of(encodings, has_run)) continue;
    ++tasks;
    apart += has_different_tiers(task, encodings) ? 1 : 0;
    size_t learned_here = 0;
    std::vector<std::pair<double, std::string>> values;
    for (const std::string& encoding : encodings) {
      values.emplace_back(value_of(task, encoding), encoding);
      if (find_row(task, encoding)->status == BoardStatus::not_learned) continue;
      ++learned[encoding];
      ++learned_here;
    }
    if (learned_here < encodings.size()) continue;
    ++learned_by_all;
    std::ranges::sort(values, std::greater());
    if (values[0].first - values[1].first >= kTierDifference) ++best[values[0].second];
  }
  std::vector<std::string> learned_texts, best_texts;
  for (const std::string& encoding : encodings) {
    learned_texts.push_back(fmt::format("{} {}", encoding, learned[encoding]));
    best_texts.push_back(fmt::format("for {} on {}", encoding, best[encoding]));
  }
  std::string text = fmt::format(
      "Tasks learned, of {}: {}, {} {}. Tiers, which need {} seeds, tell them apart on {}.", tasks,
      fmt::join(learned_texts, ", "), encodings.size() == 2 ? "both" : "all", learned_by_all, kEnoughSeeds, apart);
  if (learned_by_all == 0) return text;
  return text + fmt::format(" On the {}, the mean ({}) is the highest by {} or more {}.", learned_by_all,
                            split_title(board.options), kTierDifference, fmt::join(best_texts, ", "));
}

std::vector<std::string> side_by_side_notes(const Board& board) {
  std::vector<std::string> notes{
      values_note(board.options),
      fmt::format("not learned: most seeds are under {} in distribution, so the out-of-distribution accuracy says "
                  "nothing about the encoding. The order of the rows takes it as 0.",
                  kLearned)};
  const auto has_recurrent = [](const BoardTask& task) { return !task.recurrent.empty(); };
  if (std::ranges::any_of(board.tasks, has_recurrent)) notes.emplace_back(kAboutRecurrentModels);
  return notes;
}

}  // namespace posbench
