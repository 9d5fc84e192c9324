// One experiment: a model is trained from scratch on a task, then evaluated on each of its splits, and then once more
// under each encoding that extends it.
#pragma once
#include <functional>
#include <optional>
#include <vector>

#include "harness/training/extension.h"
#include "harness/training/task_setup.h"
#include "harness/training/trainer.h"

namespace posbench {

struct Experiment {
  const TaskSetup* task = nullptr;
  Spec encoding;
  std::uint64_t seed = 0;
  double work = 0;  // roughly proportional to the run time
  std::optional<Swept> swept = std::nullopt;
  std::optional<int> steps = std::nullopt;  // of training, where they are not those of the task
  std::vector<Extension> extensions = {};

  TrainingOptions training() const {
    TrainingOptions options = task->options.training;
    options.steps = steps.value_or(options.steps);
    return options;
  }
  ExperimentId id() const { return {task->spec, encoding.text(), seed}; }
  /// Of all its results: its own, then those of its extensions.
  std::vector<ExperimentId> ids() const;
};

/// Callbacks of an experiment. Each may be empty.
struct ExperimentEvents {
  std::function<void(const Model&, LearningRateSweep&)> begun;  // may restore the sweep from a checkpoint
  std::function<bool(const Model&, const LearningRateSweep&)> after_step;  // returns whether to continue
  std::function<bool()> go_on;  // called while testing; returns whether to continue
  std::function<void(const Model&, const Parameters&)> trained;  // the tested parameters; not called on divergence
};

/// Runs the whole experiment. Returns its result, then those of its extensions; nothing if `after_step` or `go_on` returned false. An exception makes the
/// result `failed`, except FileError and std::bad_alloc: they come from the machine, a repetition may succeed, and
/// they are rethrown.
std::optional<std::vector<ExperimentResult>> run_experiment(const Experiment&, const ExperimentEvents&);

}  // namespace posbench
