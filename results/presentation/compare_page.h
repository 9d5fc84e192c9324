// The page of plots of a comparison.
#pragma once
#include <string>

#include "results/statistics/compare.h"

namespace posbench {

/// One HTML file: for each task the differences with their 95 % intervals, a line for each encoding and split.
std::string compare_page(const Comparison&);

}  // namespace posbench
