// One experiment: a model is trained from scratch on a task, then evaluated on each of its splits.
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
  double work = 0;  // roughly proportional to the run time

  ExperimentId id() const { return {task->spec, encoding.text(), seed}; }
};

/// What is called during an experiment; each may be empty.
struct ExperimentEvents {
  std::function<void(const Model&, LearningRateSweep&)> begun;  // may set the sweep to where an earlier run left it
  std::function<bool(const Model&, const LearningRateSweep&)> after_step;   // whether to go on
  std::function<bool()> go_on;  // during the tests on each split: whether to go on
  std::function<void(const Model&, const Parameters&)> trained;  // those that are tested; not where it diverged
};

/// The whole of it, top to bottom. Where `after_step` or `go_on` answers false there is no result. An exception makes
/// it a failed one, unless the machine is to blame and the experiment could succeed when it is repeated: FileError and
/// std::bad_alloc are thrown.
std::optional<ExperimentResult> run_experiment(const Experiment&, const ExperimentEvents&);

}  // namespace posbench
