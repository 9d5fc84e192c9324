// Summarizes the encodings of a board over its tasks.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "results/statistics/aggregate.h"
#include "results/statistics/board.h"

namespace posbench {

/// The thresholds of performance profiles: 0, 0.05, ..., 0.95.
std::vector<double> profile_thresholds();

/// One encoding over all tasks of the summary. A task that it has not learned counts with its accuracy.
struct OverTasksRow {
  std::string encoding;
  bool is_users = false;
  std::vector<bool> learned;    // of each task
  TaskScores scores;            // BoardRow::values of each task
  Estimate interquartile_mean;  // of all scores
  std::vector<double> profile;  // at profile_thresholds()
};

struct OverTasks {
  std::vector<std::string> tasks;   // those without a mark that an encoding of the board has learned
  std::vector<std::string> marked;  // left out, learned or not
  std::vector<std::string> users;   // left out, because only reports of the user have them; empty if all are such
  std::vector<std::string> unlearned;  // the others, which are left out
  std::vector<std::string>
      incomplete;  // encodings that lack one of the tasks, which are left out; the user's are first
  std::vector<std::string> common;  // the tasks that every encoding has run
  std::vector<OverTasksRow> rows;   // the highest interquartile mean first
};

/// Summarizes the rows of the board. The tasks do not depend on the rows that are shown, because
/// BoardTaskSummary counts all encodings.
OverTasks summarize_over_tasks(const Board&);

/// Two encodings on the tasks that both have learned.
struct PairOverTasks {
  size_t tasks = 0;
  std::optional<Estimate> first_is_better;  // the probability that a seed has a higher value; empty without tasks
};

/// Compares two rows of the summary.
PairOverTasks compare_over_tasks(const OverTasksRow& first, const OverTasksRow& second);

}  // namespace posbench
