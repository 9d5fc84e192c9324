// May two reports be compared, and what should a reader of the comparison know?
#pragma once
#include <string>
#include <vector>

#include "results/types/report.h"

namespace posbench {

/// Throws std::runtime_error, naming why, where they may not. What is odd, but allowed, is a warning.
std::vector<std::string> check_comparable(const NamedReport& baseline, const NamedReport& candidate,
                                          bool allow_different_budget);

}  // namespace posbench
