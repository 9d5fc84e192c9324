// Accuracy, loss and margin by length, by distance or by position in the answer, binned for plots.
#pragma once
#include <optional>
#include <vector>

#include "results/types/report.h"
#include "results/statistics/statistics.h"

namespace posbench {

enum class Axis { length, distance, position };

/// A range of lengths, distances or positions that a plot shows as one point, because single values have few cases.
struct LengthBin {
  int from = 0, to = 0;  // both included
  bool trained = false;  // in distribution
};

/// The bins of a task, ascending: at most eight for each split. A length or distance that several splits test
/// belongs to the first of them.
std::vector<LengthBin> length_bins(const std::vector<const ExperimentResult*>& of_task, Axis);

/// The token accuracy of one encoding in a bin. An experiment that did not finish counts as 0.
struct BinAccuracy {
  double mean = 0;    // over seeds
  Interval interval;  // 95 %: Student's t over seeds, clipped to [0, 1]; for one seed, Wilson's
  int seeds = 0;
  std::int64_t cases = 0;  // scored positions
  std::optional<double> loss, margin;  // means over the seeds that finished, if all have them
};

/// One for each bin; empty if no seed has a case in it.
std::vector<std::optional<BinAccuracy>> accuracies(const std::vector<LengthBin>&,
                                                       const std::vector<const ExperimentResult*>& of_encoding,
                                                       Axis);

}  // namespace posbench
