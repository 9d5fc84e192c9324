// Measures the CPU time and the progress of one experiment, and calls its observer.
#pragma once
#include <chrono>
#include <stop_token>
#include <vector>

#include "base/thread_pool.h"
#include "harness/training/experiment.h"
#include "harness/training/experiment_observer.h"

namespace posbench {

/// Returns the optimizer steps at all learning rates together.
double count_steps(const TrainingOptions&);
/// Returns the validations of so many steps at one learning rate.
int count_validations(int steps, const TrainingOptions&);

/// The thread that makes the object must run the whole experiment, because the CPU time is that of this thread and
/// of the threads of its pool.
class ExperimentProgress {
 public:
  /// The arguments must outlive the object.
  ExperimentProgress(const Experiment&, ExperimentObserver&, const ThreadPool&);

  void start(const Model&, LearningRateSweep&);
  /// Returns false if a stop was requested, so that no further step may follow.
  bool step(const Model&, const LearningRateSweep&, const std::stop_token&);
  void finish(const std::vector<ExperimentResult>&);
  /// Takes back the reported progress, since the experiment will be repeated.
  void reset();

 private:
  using Clock = std::chrono::steady_clock;

  double cpu_seconds() const;
  double all_cpu_seconds() const;
  double wall_seconds() const;
  void advance(double cost);

  const Experiment& experiment_;
  ExperimentObserver& observer_;
  const Clock::time_point start_ = Clock::now();
  const ThreadPool& pool_;
  double start_cpu_seconds_;            // of all threads
  double earlier_cpu_seconds_ = 0;      // of former runs
  double checkpoint_wall_seconds_ = 0;  // at the last checkpoint
  double cost_left_, cost_of_step_;
};

}  // namespace posbench
