#include "results/statistics/over_tasks.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace posbench {
std::vector<double> profile_thresholds() {
  std::vector<double> thresholds;
  for (int n = 0; n < 20; ++n) thresholds.push_back(n / 20.0);
  return thresholds;
}

OverTasks summarize_over_tasks(const Board& board) {
  OverTasks over;
  over.marked = marked_tasks(board);
  std::map<std::string, OverTasksRow> results;
  const bool has_stored =
      std::ranges::any_of(board.tasks, [](const BoardTask& task) { return !task.is_users && task.mark.empty(); });
  const auto is_left_out = [&](const BoardTask& task) {
    return !task.mark.empty() || (has_stored && task.is_users);
  };
  const auto counts = [&](const BoardTask& task) { return !is_left_out(task) && task.summary.learned > 0; };
  for (const BoardTask& task : board.tasks) {
    if (task.mark.empty() && is_left_out(task)) over.users.push_back(task.task);
    if (is_left_out(task)) continue;
    (counts(task) ? over.tasks : over.unlearned).push_back(task.task);
    if (!counts(task)) continue;
    for (const BoardRow& row : task.rows) {
      OverTasksRow& of_encoding = results[row.encoding];
      of_encoding.encoding = row.encoding;
      of_encoding.is_users = row.is_users;
      of_encoding.learned.push_back(row.learned.by_half_the_seeds());
      of_encoding.scores.push_back(row.values);
    }
  }
  for (const BoardTask& task : board.tasks) {
    if (counts(task) && task.rows.size() == results.size()) over.common.push_back(task.task);
  }
  const std::vector<double> thresholds = profile_thresholds();
  for (auto& [encoding, row] : results) {
    if (row.scores.size() < over.tasks.size()) {
      over.incomplete.push_back(encoding);
      continue;
    }
    row.interquartile_mean = estimate_interquartile_mean(row.scores);
    row.profile = performance_profile(row.scores, thresholds);
    over.rows.push_back(std::move(row));
  }
  std::ranges::stable_partition(over.incomplete,
                                [&](const auto& encoding) { return results.at(encoding).is_users; });
  std::ranges::stable_sort(over.rows, std::greater<>(),
                           [](const OverTasksRow& row) { return row.interquartile_mean.value; });
  return over;
}

PairOverTasks compare_over_tasks(const OverTasksRow& first, const OverTasksRow& second) {
  TaskScores of_first, of_second;
  for (size_t task = 0; task < first.scores.size(); ++task) {
    if (!first.learned[task] || !second.learned[task]) continue;
    of_first.push_back(first.scores[task]);
    of_second.push_back(second.scores[task]);
  }
  if (of_first.empty()) return {};
  return {of_first.size(), estimate_probability_of_improvement(of_first, of_second)};
}

}  // namespace posbench
