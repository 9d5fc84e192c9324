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
  std::optional<double> entropy = std::nullopt;  // of the answers, in nats, which is the least mean loss; if known
  /// Options of the task that the split changes. Empty in older reports.
  std::optional<std::map<std::string, std::string>> options = std::nullopt;
  /// The fraction of test samples that also occur in the training samples. Empty in older reports.
  std::optional<double> seen_in_training = std::nullopt;
  /// Lengths of which training.reserve reserves no questions for tests, because there are too few. Ascending.
  std::vector<int> exempt_lengths = {};
  bool operator==(const SplitBaseline&) const = default;
};

struct TaskBaseline {
  std::string task;  // its spec
  int version = 1;
  std::vector<SplitBaseline> splits;                   // in_distribution first
  std::optional<int> training_samples = std::nullopt;  // the number that seen_in_training refers to
  bool operator==(const TaskBaseline&) const = default;
};

}  // namespace posbench
