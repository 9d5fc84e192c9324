// Estimates how long a suite takes on this machine.
#pragma once
#include <cstddef>
#include <functional>
#include <vector>

#include "harness/runs/suite.h"

namespace posbench {

struct Plan {
  std::vector<double> seconds;  // of each experiment of the suite, on one core
  double core_seconds = 0;      // of the whole, all cores together
  double wall_seconds = 0;      // of the whole, with the requested jobs and threads
  int jobs = 1, threads = 1;    // experiments at once; threads of each of them

  size_t pairs = 0, measured_pairs = 0;  // of a task and an encoding
  double deviation = 0;  // largest relative error of an estimate of a measured pair by the other pairs
};

/// Estimates the time. It measures for about ten CPU seconds, with as many experiments at once as the run has. If
/// that is not enough for every pair of a task and an encoding, the others are estimated from the measured ones.
/// Training is assumed to use all its steps, and grids all their multiples. `jobs` and `threads` are those of
/// run_suite. The threads of an experiment are assumed to divide its tests and the groups of its batches evenly.
/// Calls `measured` from any thread, with the number of measured experiments of the calibration.
Plan make_plan(const Suite&, int jobs, int threads, const std::function<void(size_t done, size_t of)>& measured);

}  // namespace posbench
