// How long a suite would take here.
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

/// Estimates the time from a calibration of some seconds, with as many threads as would run. `measured` is called from
/// any thread, with how many of the calibration's experiments are measured.
Plan make_plan(const Suite&, int jobs, const std::function<void(size_t done, size_t of)>& measured);

}  // namespace posbench
