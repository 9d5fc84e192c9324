// A report as a page.
#pragma once
#include <span>
#include <string>

#include "results/presentation/merged_report.h"
#include "results/presentation/report_page_options.h"

namespace posbench {

/// The page of one run, or of several beside each other, as one HTML file. Throws std::runtime_error where they
/// cannot be shown together.
std::string report_page(std::span<const NamedReport>, const PageOptions& = {});

/// Leaves out who made a run and where: host, path and command.
void make_anonymous(Report&);

}  // namespace posbench
