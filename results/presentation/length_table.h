// Writes the accuracies at multiples of the trained length as tables.
#pragma once
#include <vector>

#include "results/presentation/report_table.h"
#include "results/statistics/summary.h"
#include "results/types/report.h"

namespace posbench {

/// Returns for each task that has a grid a table with the sequence accuracy at each multiple: of each encoding and
/// grid the mean over seeds, then every seed.
std::vector<TaskTable> length_tables(const Report&, const Summary&);

}  // namespace posbench
