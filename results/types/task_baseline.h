// The trivial baselines of a task.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "results/types/experiment_result.h"

namespace posbench {

/// Accuracies that are reached without solving the task.
struct SplitBaseline {
  std::string name;
  SplitKind kind = SplitKind::in_distribution;
  double chance = 0;                      // token accuracy of a uniform guess among the possible answers
  std::map<std::string, double> trivial;  // measured token accuracy by predictor: constant, last_token, ...
  bool operator==(const SplitBaseline&) const = default;
};

struct TaskBaseline {
  std::string task;  // its spec
  int version = 1;
  std::vector<SplitBaseline> splits;  // in_distribution first
  bool operator==(const TaskBaseline&) const = default;
};

}  // namespace posbench
