// Reads the report of a run, finished or not.
#pragma once
#include <filesystem>

#include "results/types/report.h"

namespace posbench {

/// Reads a report or a run directory. A directory without report.json gives the report of its finished
/// experiments. Throws InputError if there is neither.
Report read_report_or_run(const std::filesystem::path&);

}  // namespace posbench
