// Writes a report as a page.
#pragma once
#include <span>
#include <string>

#include "results/presentation/merged_report.h"
#include "results/presentation/report_page_options.h"

namespace posbench {

/// Returns one HTML file for one run, or for several next to each other. Throws InputError if they cannot be shown
/// together.
std::string make_report_page(std::span<const NamedReport>, const PageOptions& = {});

/// Removes the host, the path and the command of a run.
void make_anonymous(Report&);

}  // namespace posbench
