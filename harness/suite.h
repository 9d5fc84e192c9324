// The set of experiments of one run: tasks x encodings x seeds. The only threads of the program are here.
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "harness/experiment.h"

namespace posbench {

struct Suite {
  std::vector<std::unique_ptr<TaskSetup>> tasks;
  std::vector<Experiment> experiments;  // by task, encoding, seed, in the order of the configuration
};

/// Builds every task with every split and every encoding in a model for it, so that what does not go together is
/// refused before anything runs. Throws std::invalid_argument.
Suite make_suite(const Config&);

/// Multiply-adds of an experiment's products with weights and of attention, training and evaluation together: what
/// its time is roughly proportional to.
double work(const Experiment&);

struct SuiteEvents {
  /// Each experiment's model as it was trained; from any thread. May be empty.
  std::function<void(const Experiment&, const Model&, const TrainingState&)> trained;
  std::function<void(double work)> advanced;                              // from any thread
  std::function<void(const ExperimentResult&, double seconds)> finished;  // one at a time
};

/// Runs the experiments, `jobs` at once, one thread each. `stop` abandons those under way at their next step. What
/// an event throws stops the suite and is thrown again from here.
void run_suite(const std::vector<Experiment>&, int jobs, const std::atomic<bool>& stop, const SuiteEvents&);

}  // namespace posbench
