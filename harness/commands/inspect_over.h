// Writes the output of `posbench inspect --over N`.
#pragma once
#include <string>

#include "harness/analysis/head_report.h"
#include "harness/console/output.h"
#include "results/document/table.h"

namespace posbench {

/// Returns the report in an output format. `unfinished_run` is a note on a run that has not finished, or empty.
std::string format_head_report(const HeadReport&, const std::string& unfinished_run, Format, const ConsoleStyle&);

}  // namespace posbench
