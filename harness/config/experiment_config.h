// Connects the configuration of a run with single tasks and experiments.
#pragma once
#include <string>

#include "harness/config/config.h"
#include "harness/training/experiment.h"

namespace posbench {

/// Returns a task as the configuration sets it up, with the overrides and the splits of the user.
TaskSetup setup_task(const RunConfig&, const TaskSpec&);

/// Returns the configuration of a run that has only this experiment.
RunConfig config_of(const Experiment&);

}  // namespace posbench
