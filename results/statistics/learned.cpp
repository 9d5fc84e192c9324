#include "results/statistics/learned.h"

#include <algorithm>
#include <cmath>
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

/// Interpolates linearly between the points of the curve. Before the first point, returns its value.
double validation_at(const std::vector<CurvePoint>& curve, double step) {
  for (size_t i = 1; i < curve.size(); ++i) {
    if (step > curve[i].step) continue;
    const double from = curve[i - 1].step, to = curve[i].step;
    const double fraction = std::clamp((step - from) / (to - from), 0.0, 1.0);
    return std::lerp(curve[i - 1].validation_sequence, curve[i].validation_sequence, fraction);
  }
  return curve.back().validation_sequence;
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
    const std::vector<CurvePoint>& curve = experiment->learning_curve;
    if (experiment->status != Status::ok || curve.size() < 2) continue;
    const double before = validation_at(curve, (1 - kLateTraining) * curve.back().step);
    gains.push_back(curve.back().validation_sequence - before);
  }
  if (!gains.empty()) learned.late_gain = mean(gains);
  return learned;
}

}  // namespace posbench
