// Runs one experiment: a model is trained from scratch on a task and tested on each of its splits, then tested
// again under each encoding that extends it.
#pragma once
#include <optional>
#include <stop_token>
#include <vector>

#include "base/thread_pool.h"
#include "harness/training/experiment.h"
#include "harness/training/experiment_observer.h"

namespace posbench {

/// Returns the result of the experiment, then those of its extensions; nothing if a stop was requested before the
/// end. An InputError makes a result `failed`. Any other exception is rethrown. The results do not depend on the
/// number of threads. The observer is called by the calling thread.
std::optional<std::vector<ExperimentResult>> run_experiment(const Experiment&, ExperimentObserver&,
                                                            const std::stop_token& = {},
                                                            ThreadPool& = calling_thread());
std::optional<std::vector<ExperimentResult>> run_experiment(const Experiment&);

}  // namespace posbench
