// Estimates how long a suite takes on this machine.
#pragma once
#include <functional>
#include <vector>

#include "harness/runs/suite.h"

namespace posbench {

struct Plan {
  std::vector<double> seconds;  // of each experiment of the suite, on one core
  double core_seconds = 0;      // of the whole, all cores together
  double wall_seconds = 0;      // of the whole, with the requested jobs
};

/// Estimates the time from a calibration of some seconds, with as many threads as a run has. Calls `measured` from any
/// thread, with the number of measured experiments of the calibration.
Plan make_plan(const Suite&, int jobs, const std::function<void(size_t done, size_t of)>& measured);

}  // namespace posbench
