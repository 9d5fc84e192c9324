// Ranks the encodings of a board on the tasks of some aspects: by the tasks that they keep at a multiple of the
// trained length, and by their scores.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "results/statistics/aspect_scores.h"
#include "results/statistics/board.h"
#include "results/statistics/kept_length.h"

namespace posbench {

/// A task of the aspects, at the multiple of the trained length.
struct LengthTask {
  std::string task;
  /// The results that decide, for all encodings: the first of far grid, grid and splits that all encodings have
  /// that learned the task. Empty if one of these encodings was not tested at such lengths.
  std::optional<LengthBasis> basis;
  std::vector<std::string> splits;  // that decide if the grid does not
};

struct AspectRow {
  std::string encoding;
  bool is_users = false;
  std::vector<AspectScore> scores;  // of the aspects of which it ran a task
  int ran = 0, learned = 0;         // tasks of all aspects, each counted once
  int tested = 0;                   // of the learned ones, at the length
  std::vector<std::string> kept;    // of these
  std::optional<double> cost;

  double mean_score() const;
};

struct AspectRanking {
  std::vector<AspectTasks> aspects;
  std::optional<double> length;         // multiple of the trained length; empty: only the scores rank
  std::vector<LengthTask> tasks;        // of all aspects
  std::vector<AspectRow> rows;          // the most kept tasks first, then the highest mean score
  std::vector<std::string> incomplete;  // encodings that did not run every task, and are left out
};

/// Ranks the encodings that ran every task of the aspects and those of the user, or all if there are none.
AspectRanking rank_by_aspects(const BoardReport&, const std::vector<AspectTasks>&, std::optional<double> length);

}  // namespace posbench
