// `posbench run --dry-run`: what would be run, and how long it would take here.
#pragma once
#include "harness/suite.h"

namespace posbench {

/// Prints the experiments, their parameter counts and an estimate of their time, from a calibration of some
/// seconds with as many threads as would run.
void print_plan(const Suite&, int jobs, bool color);

}  // namespace posbench
