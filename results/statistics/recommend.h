// Finds the encodings of a board that meet a need: they score best on aspects, keep a length and have a cost.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "results/statistics/aspect_scores.h"
#include "results/statistics/board.h"
#include "results/statistics/kept_length.h"

namespace posbench {

struct Need {
  std::vector<AspectTasks> aspects;
  std::optional<double> cost;    // the greatest
  std::optional<double> length;  // multiple of the trained length that is kept
  double share = 0.5;            // of the tasks of each aspect on which it is kept
};

/// A task of an aspect, at the length of the need.
struct LengthTask {
  std::string task;
  LengthBasis basis = LengthBasis::grid;  // for all encodings: the grid, if all that learned the task have one
  std::vector<std::string> splits;        // that decide if the grid does not
};

/// The tasks of an aspect, at the length of the need. They follow from all encodings that ran every task of the
/// aspect, at any cost.
struct LengthTasks {
  std::vector<LengthTask> tested;      // at such lengths, with every encoding that learned them
  std::vector<std::string> too_short;  // not tested at such lengths
  std::vector<std::string> unlearned;  // by all of these encodings
};

/// One encoding on the tested tasks of an aspect.
struct AtLength {
  int kept = 0;     // tasks
  double mean = 0;  // of the accuracies at that length, over tasks and seeds
  /// One for each of LengthTasks::tested; empty if the encoding was not tested there, because it has not learned
  /// the task and has no grid. Such a task is not kept, and its accuracy counts as 0.
  std::vector<std::optional<KeptLength>> tasks;
};

struct Recommendation {
  std::string encoding;
  std::vector<AspectScore> scores;  // in the order of the aspects
  std::vector<AtLength> at_length;  // the same; empty unless the need has a length
  std::optional<double> cost;
  bool keeps_length = true;  // on the share of the tasks of every aspect; true if the need has no length

  double mean_score() const;
};

struct Recommendations {
  std::vector<LengthTasks> lengths;       // of each aspect; empty unless the need has a length
  std::vector<Recommendation> encodings;  // that ran every task at the cost: those that keep the length first, and
                                          // the best mean score first
  std::vector<std::string> incomplete;    // encodings at the cost that did not run every task
};

Recommendations recommend(const BoardReport&, const Need&);

}  // namespace posbench
