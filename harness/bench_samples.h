// `posbench bench --samples`: how long it takes to draw a sample.
#pragma once
#include "harness/bench.h"

namespace posbench {

/// Measures and prints the time for one sample of length 500, the longest that is published, of every task of the
/// Chomsky hierarchy.
void bench_samples(const BenchRequest&);

}  // namespace posbench
