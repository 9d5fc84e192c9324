// Watches experiments while they run.
#pragma once
#include <vector>

#include "base/parallel_for.h"
#include "harness/training/learning_rate_sweep.h"
#include "results/types/experiment_result.h"

namespace posbench {

struct Experiment;

/// The functions are called from the threads that run the experiments, one for each experiment that runs. An
/// exception ends the experiment and its suite and is rethrown by run_experiment and run_suite. Each function does
/// nothing unless it is overridden.
class ExperimentObserver {
 public:
  virtual ~ExperimentObserver() = default;

  /// An experiment starts. May restore the sweep from a checkpoint; returns the CPU seconds that were spent until
  /// then.
  virtual double on_start(const Experiment&, const Model&, LearningRateSweep&) { return 0; }
  virtual void on_step(const Experiment&, const LearningRateSweep&) {}
  /// Saves the state. Called after a step of training if `checkpoint_seconds` have passed, or 5 seconds at the
  /// last step, and when a stop is requested. Tests and further training have no checkpoints. `seconds` of CPU
  /// time were spent on the experiment until now.
  virtual void on_checkpoint(const Experiment&, const Model&, const LearningRateSweep&, double /*seconds*/) {}
  /// The finished part of the estimated cost grew by `cost`, which is negative if an experiment is repeated.
  virtual void on_progress(double /*cost*/) {}
  /// Training is finished; these parameters are tested next. Not called on divergence.
  virtual void on_trained(const Experiment&, const Model&, const Parameters&) {}
  /// The results are those of the experiment and of each of its extensions, which took `seconds` of CPU time
  /// together. Not called if the experiment was stopped.
  virtual void on_finished(const std::vector<ExperimentResult>&, double /*seconds*/) {}
  /// The memory was too small for all jobs; `jobs` of them remain.
  virtual void on_jobs_reduced(int /*jobs*/, Resource /*lacking*/) {}

  double checkpoint_seconds = 60;
};

}  // namespace posbench
