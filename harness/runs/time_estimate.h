// Estimates how long experiments take: their multiply-adds times the seconds of one on this machine.
#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "harness/runs/suite.h"

namespace posbench {

struct TimeEstimate {
  std::vector<double> seconds;  // of each experiment of the suite, on one core
  double core_seconds = 0;      // of all experiments
  double wall_seconds = 0;      // of all experiments, with the requested jobs and threads
  int jobs = 1, threads = 1;    // experiments at once; threads of each of them
};

/// Estimates the time of a suite. Trains the first encoding of each task for some steps, as many tasks at once as
/// the run has jobs. `jobs` and `threads` are those of run_suite. The threads of an experiment are assumed to
/// divide its tests and the groups of its batches evenly. Calls `measured` from any thread, with the number of
/// measured tasks. If the CPU clock stands still, all times are 0.
TimeEstimate estimate_time(const Suite&, int jobs, int threads,
                           const std::function<void(size_t done, size_t of)>& measured);

size_t count_parameters(const Experiment&);

/// The experiments of a task or an encoding.
struct TimeSums {
  std::string name;
  size_t experiments = 0, least = 0, most = 0;  // least and most parameters
  double seconds = 0;
};

/// Returns the sums of the experiments with each name, the longest first. If they are more than `most` and one,
/// the last has the sums of all others.
std::vector<TimeSums> sum_times(const Suite&, const TimeEstimate&, size_t most,
                                const std::function<std::string(const Experiment&)>& name);

}  // namespace posbench
