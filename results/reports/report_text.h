// Writes the file of a report.
#pragma once
#include <functional>
#include <string_view>

#include "results/statistics/summary.h"

namespace posbench {

/// Passes the indented JSON of a report, with its checksum, to `write` in pieces. The summary is that of the
/// report.
void write_report_text(const Report&, const Summary&, const std::function<void(std::string_view)>& write);

}  // namespace posbench
