// Scores encodings on the aspects that tasks test, such as recall and counting.
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "results/statistics/statistics.h"
#include "results/types/report.h"

namespace posbench {

/// An aspect and the tasks that test it, as reports name them.
struct AspectTasks {
  std::string aspect;
  std::vector<std::string> tasks;
  std::vector<std::string> marked = {};  // tasks with a mark, which do not count
};

/// The result of one encoding on the tasks of an aspect.
struct AspectScore {
  std::string aspect;
  /// The mean over tasks of the token accuracy out of distribution, rescaled so that the best trivial predictor
  /// has 0 and the right answers have 1. A task that was not learned counts with its accuracy, too.
  double mean = 0;
  Interval interval;  // 95 %, by bootstrap over tasks and, within each, over seeds
  int tasks = 0;      // that the encoding ran
  int of = 0;         // tasks of the aspect
  int learned = 0;    // by at least half of the seeds in distribution
};

/// Returns the scores of an encoding, in the order of the aspects. Aspects none of whose tasks the encoding ran
/// are left out.
std::vector<AspectScore> score_aspects(const Report&, const std::string& encoding,
                                       const std::vector<AspectTasks>&);

}  // namespace posbench
