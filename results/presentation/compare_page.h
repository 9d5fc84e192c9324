// Writes a comparison as a page of plots.
#pragma once
#include <string>

#include "results/statistics/compare.h"

namespace posbench {

/// Returns one HTML file. It has for each task the differences with their 95 % intervals, a line for each encoding
/// and split.
std::string make_compare_page(const Comparison&);

}  // namespace posbench
