// Orders the encodings over many tasks.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "results/statistics/statistics.h"

namespace posbench {

/// The rank of an encoding by accuracy among those that ran the same task. 1 is best, and ties get the mean of
/// their ranks.
struct MeanRank {
  double mean = 0;    // over the tasks that it ran
  Interval interval;  // 95 %, by bootstrap over tasks and, within each, over seeds
  int tasks = 0;
  int seeds = 0;  // the smallest number of any task

  /// Returns false if the interval is too narrow. Resamples of few seeds vary less than other seeds would: with
  /// three, one in nine is three times the same seed.
  bool enough_seeds() const { return seeds >= 5; }
};

/// Returns the mean rank of each encoding, empty if it ran no task. values[task][encoding] has one accuracy for
/// each seed, and none if the encoding did not run the task.
std::vector<std::optional<MeanRank>> rank_encodings(const std::vector<std::vector<std::vector<double>>>& values);

}  // namespace posbench
