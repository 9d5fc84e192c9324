// The order of the encodings over many tasks.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "results/statistics/statistics.h"

namespace posbench {

/// An encoding's rank by accuracy among those that ran the same task: 1 is best, and equals share the mean of
/// their ranks.
struct MeanRank {
  double mean = 0;    // over the tasks that it ran
  Interval interval;  // 95 %, by bootstrap over tasks and, within each, over seeds
  int tasks = 0;
  int seeds = 0;  // the fewest of a task

  /// Resamples of few seeds hold little of what other seeds would do: of three, one in nine is thrice the same seed,
  /// and the interval is too narrow.
  bool enough_seeds() const { return seeds >= 5; }
};

/// values[task][encoding]: one accuracy for each seed; empty where the encoding did not run the task. For each
/// encoding, its mean rank; nothing where it ran no task.
std::vector<std::optional<MeanRank>> rank(const std::vector<std::vector<std::vector<double>>>& values);

}  // namespace posbench
