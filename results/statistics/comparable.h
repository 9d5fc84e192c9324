// Whether two reports may be compared, and warnings for readers of the comparison.
#pragma once
#include <string>
#include <vector>

#include "results/types/report.h"

namespace posbench {

/// Throws std::runtime_error, with the reason, if they may not. Differences that are allowed give warnings.
std::vector<std::string> check_comparable(const NamedReport& baseline, const NamedReport& candidate,
                                          bool allow_different_budget);

}  // namespace posbench
