#include "results/statistics/learned.h"

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "results/statistics/statistics.h"
#include "results/types/metric.h"

namespace posbench {
namespace {

bool has_learned(const TaskBaseline& task, const ExperimentResult& experiment) {
  return std::all_of(task.splits.begin(), task.splits.end(), [&](const SplitBaseline& split) {
    return split.kind != SplitKind::in_distribution ||
           split_accuracy(experiment, split.name, Metric::sequence) >= kLearned;
  });
}

/// Returns the experiment that trained the model. For an extension this is its parent, if the report has it.
const ExperimentResult* trained(const Report& report, const ExperimentResult* experiment) {
  if (!experiment->extended) return experiment;
  const auto& [task, encoding, seed] = experiment->id;
  const ExperimentId parent{task, experiment->extended->parent, seed};
  for (const ExperimentResult& other : report.experiments) {
    if (other.id == parent) return &other;
  }
  return experiment;
}

}  // namespace

Learned find_learned(const Report& report, const TaskBaseline& task,
                     std::span<const ExperimentResult* const> experiments) {
  Learned learned;
  std::vector<double> gains;
  for (const ExperimentResult* tested : experiments) {
    const ExperimentResult* experiment = trained(report, tested);
    learned.seeds += {has_learned(task, *experiment), 1};
    if (experiment->status != Status::ok) continue;
    if (const std::optional<double> gain = late_gain(experiment->learning_curve)) gains.push_back(*gain);
  }
  if (!gains.empty()) learned.late_gain = mean(gains);
  return learned;
}

}  // namespace posbench
