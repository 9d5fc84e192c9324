#include "results/statistics/over_tasks.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace posbench {
namespace {

/// The rows of an encoding on the tasks of the summary.
struct Results {
  bool is_users = false;
  size_t learned = 0;
  TaskScores scores;
};

}  // namespace

std::vector<double> profile_thresholds() {
  std::vector<double> thresholds;
  for (int n = 0; n < 20; ++n) thresholds.push_back(n / 20.0);
  return thresholds;
}

OverTasks summarize_over_tasks(const Board& board) {
  OverTasks over;
  over.marked = marked_tasks(board);
  std::map<std::string, Results> results;
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
      Results& of_encoding = results[row.encoding];
      of_encoding.is_users = row.is_users;
      of_encoding.learned += row.learned.by_half_the_seeds() ? 1 : 0;
      of_encoding.scores.push_back(row.values);
    }
  }
  for (const BoardTask& task : board.tasks) {
    if (counts(task) && task.rows.size() == results.size()) over.common.push_back(task.task);
  }
  const std::vector<double> thresholds = profile_thresholds();
  for (const auto& [encoding, of_encoding] : results) {
    if (of_encoding.scores.size() < over.tasks.size()) {
      over.incomplete.push_back(encoding);
      continue;
    }
    over.rows.push_back({.encoding = encoding,
                         .is_users = of_encoding.is_users,
                         .learned = of_encoding.learned,
                         .interquartile_mean = estimate_interquartile_mean(of_encoding.scores),
                         .first_is_better = std::nullopt,
                         .profile = performance_profile(of_encoding.scores, thresholds)});
  }
  std::ranges::stable_sort(over.rows, std::greater<>(),
                           [](const OverTasksRow& row) { return row.interquartile_mean.value; });
  for (size_t n = 1; n < over.rows.size(); ++n) {
    over.rows[n].first_is_better = estimate_probability_of_improvement(results.at(over.rows[0].encoding).scores,
                                                                       results.at(over.rows[n].encoding).scores);
  }
  return over;
}

}  // namespace posbench
