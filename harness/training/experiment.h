// Defines an experiment: a task, an encoding and a seed.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "harness/training/extension.h"
#include "harness/training/task_setup.h"

namespace posbench {

struct Experiment {
  const TaskSetup* task = nullptr;
  Spec encoding;
  std::uint64_t seed = 0;
  double estimated_cost = 0;                  // roughly proportional to the run time
  std::optional<Swept> swept = std::nullopt;  // the point of a sweep over settings; not of learning rates
  std::optional<int> steps = std::nullopt;    // of training, if they are not those of the task
  std::vector<Extension> extensions = {};
  double estimated_training_cost = 0;  // the part of estimated_cost that optimizer steps take

  TrainingOptions training() const {
    TrainingOptions options = task->options.training;
    options.steps = steps.value_or(options.steps);
    return options;
  }
  ExperimentId id() const { return {task->spec, encoding.text(), seed}; }
  /// Returns the ids of all its results: first the experiment itself, then its extensions.
  std::vector<ExperimentId> ids() const;
};

}  // namespace posbench
