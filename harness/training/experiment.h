// One experiment: a model trained from scratch on a task, then evaluated on every split of it.
#pragma once
#include <functional>
#include <optional>

#include "harness/training/task_setup.h"
#include "harness/training/trainer.h"

namespace posbench {

struct Experiment {
  const TaskSetup* task = nullptr;
  Spec encoding;
  std::uint64_t seed = 0;
  double work = 0;  // what its time is roughly proportional to

  ExperimentId id() const { return {task->spec, encoding.text(), seed}; }
};

/// What goes on around an experiment; each but `after_step` may be empty.
struct ExperimentEvents {
  std::function<void(const Model&, LearningRateSweep&)> begun;  // may set the sweep to where an earlier run left it
  std::function<bool(const Model&, const LearningRateSweep&)> after_step;   // whether to go on
  std::function<void(const Model&, const Parameters&)> trained;  // those that are tested; not where it diverged
};

/// The whole of it, top to bottom. Where `after_step` says no there is no result. What goes wrong in it makes it a
/// failed one, but for files that cannot be written: FileError is thrown.
std::optional<ExperimentResult> run_experiment(const Experiment&, const ExperimentEvents&);

}  // namespace posbench
