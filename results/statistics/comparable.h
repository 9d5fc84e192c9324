// Checks that two reports may be compared.
#pragma once
#include <string>
#include <vector>

#include "results/types/report.h"

namespace posbench {

/// Throws InputError with the reason if they may not be compared. Returns warnings about differences that are
/// allowed.
std::vector<std::string> check_comparable(const NamedReport& baseline, const NamedReport& candidate,
                                          bool allow_different_budget);

}  // namespace posbench
