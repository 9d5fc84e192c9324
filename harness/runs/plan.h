// An estimate of the time that a suite takes on this machine.
#pragma once
#include <vector>

#include "harness/runs/suite.h"

namespace posbench {

struct Plan {
  std::vector<double> seconds;  // of each experiment of the suite, on one core
  double core_seconds = 0;      // of the whole, all cores together
  double wall_seconds = 0;      // of the whole, with the requested jobs
};

/// Estimates the time from measurements of a few seconds, with as many threads as the run would have.
Plan make_plan(const Suite&, int jobs);

}  // namespace posbench
