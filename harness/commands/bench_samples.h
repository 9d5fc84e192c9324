// `posbench bench --samples`: how long it takes to draw a sample.
#pragma once
#include <string>
#include <vector>

namespace posbench {

/// Measures and prints the time for one sample of length 500, the longest that is published, of every task of the
/// Chomsky hierarchy. `command` is what was typed.
void bench_samples(bool json, bool color, const std::vector<std::string>& command);

}  // namespace posbench
