// Defines the trivial baselines of a task.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "results/types/experiment_result.h"

namespace posbench {

/// Accuracies that are reached without solving the task.
struct SplitBaseline {
  std::string name;
  SplitKind kind = SplitKind::in_distribution;
  double chance = 0;                             // token accuracy of a uniform guess among the possible answers
  std::map<std::string, double> trivial;         // measured token accuracy by predictor: constant, last_token, ...
  std::optional<double> entropy = std::nullopt;  // of the answers, in nats: the least mean loss, where it is known
  /// Options of the task that the split changes. Empty in older reports.
  std::optional<std::map<std::string, std::string>> options = std::nullopt;
  bool operator==(const SplitBaseline&) const = default;
};

struct TaskBaseline {
  std::string task;  // its spec
  int version = 1;
  std::vector<SplitBaseline> splits;  // in_distribution first
  bool operator==(const TaskBaseline&) const = default;
};

}  // namespace posbench
