// Estimates how long experiments take: their multiply-adds times the seconds of one on this machine.
#pragma once
#include <cstddef>
#include <functional>
#include <vector>

#include "harness/runs/suite.h"

namespace posbench {

/// Counts the multiply-adds of a task in a model with plain attention: those of the products with weights and of
/// attention. Grids count with all their multiples.
class TaskProducts {
 public:
  explicit TaskProducts(const TaskSetup&);

  /// Returns the cost of an experiment on the task. Each multiply-add counts as often as the encoding is slower than
  /// plain attention (results/data/board/cost.json; 1 for an encoding that is not there). Training counts with all
  /// its steps.
  Cost cost(const Experiment&) const;

 private:
  double step_ = 0, further_step_ = 0;  // of training, and of further training
  double tests_ = 0, validation_ = 0, further_validation_ = 0;
};

struct TimeEstimate {
  std::vector<double> seconds;  // of each experiment of the suite, on one core
  double core_seconds = 0;      // of all experiments
  double wall_seconds = 0;      // of all experiments, with the requested jobs and threads
  int jobs = 1, threads = 1;    // experiments at once; threads of each of them
};

/// Estimates the time of a suite. Trains the first encoding of each task for some steps, as many tasks at once as the
/// run has jobs. `jobs` and `threads` are those of run_suite. The threads of an experiment are assumed to divide its
/// tests and the groups of its batches evenly. Calls `measured` from any thread, with the number of measured tasks. If
/// the CPU clock stands still, all times are 0.
TimeEstimate estimate_time(const Suite&, int jobs, int threads,
                           const std::function<void(size_t done, size_t of)>& measured);

}  // namespace posbench
