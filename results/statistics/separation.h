// Measures how well the tasks of a report separate encodings.
#pragma once
#include <string>
#include <vector>

#include "results/statistics/summary.h"

namespace posbench {

/// The separation by one task.
struct Separation {
  std::string task;
  double between = 0;     // variance between encodings, of their means over seeds
  double over_seeds = 0;  // variance over seeds within an encoding, averaged over encodings
  double ratio = 0;       // between / over_seeds; infinite if only the second is 0
  int pairs = 0;          // of encodings
  int resolved = 0;  // pairs that differ in exact permutation tests at 5 %, corrected for all pairs of the task
  int seeds = 0;     // the smallest number of any encoding; below five no pair counts as resolved
};

/// Compares the mean accuracies over the splits of a kind. A task that fewer than two encodings ran, or with fewer
/// than two seeds, is skipped.
std::vector<Separation> find_separations(const Summary&, SplitKind, Metric);

}  // namespace posbench
