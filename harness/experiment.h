// One experiment: a model trained from scratch on a task, then evaluated on every split of it.
#pragma once
#include <functional>
#include <optional>

#include "harness/task_setup.h"
#include "harness/trainer.h"

namespace posbench {

struct Experiment {
  const TaskSetup* task = nullptr;
  Spec encoding;
  std::uint64_t seed = 0;

  ExperimentId id() const { return {task->spec, encoding.text(), seed}; }
};

/// The whole of it, top to bottom. `after_step` is asked after every step whether to go on; where it says no there
/// is no result.
std::optional<ExperimentResult> run_experiment(const Experiment&,
                                               const std::function<bool(const TrainingState&)>& after_step);

}  // namespace posbench
