// Writes the file of a report.
#pragma once
#include <functional>
#include <string_view>

#include "results/types/report.h"

namespace posbench {

/// Passes the indented JSON of a report to `write` in pieces.
void write_report_text(const Report&, const std::function<void(std::string_view)>& write);

}  // namespace posbench
