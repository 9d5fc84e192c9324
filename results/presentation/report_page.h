// A report as a page.
#pragma once
#include <span>
#include <string>

#include "results/statistics/compare.h"
#include "results/presentation/merged_report.h"

namespace posbench {

/// The page of one run, or of several beside each other, as one HTML file. Throws std::runtime_error where they
/// cannot stand beside each other.
std::string report_page(std::span<const NamedReport>);

}  // namespace posbench
