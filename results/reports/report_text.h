// Writes the file of a report.
#pragma once
#include <string>

#include "results/types/report.h"

namespace posbench {

/// Returns the indented JSON of a report. Its experiments are not all in memory as JSON.
std::string to_report_text(const Report&);

}  // namespace posbench
