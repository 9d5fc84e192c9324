// Counts the right answers of a model on the samples of a split.
#pragma once
#include <map>
#include <vector>

#include "results/types/experiment_result.h"
#include "tasks/task.h"

namespace posbench {

/// Counts overall, by length and by distance.
class Tally {
 public:
  /// `right`: for each scored position of the example, whether its answer was right. `length`: in the task's unit.
  void add(const Example&, int length, const std::vector<bool>& right);

  SplitResult result() const;  // without name and kind

 private:
  SplitResult counts_;
  std::map<int, LengthResult> by_length_;
  std::map<int, DistanceResult> by_distance_;
};

}  // namespace posbench
