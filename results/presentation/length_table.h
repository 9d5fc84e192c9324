// Writes the accuracies at multiples of the trained length as tables.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "results/document/table.h"
#include "results/statistics/summary.h"
#include "results/types/report.h"

namespace posbench {

struct TaskTable {
  std::string task;
  Table table;
};

/// Returns for each task that has a grid a table with the sequence accuracy at each multiple: of each encoding and
/// grid the mean over seeds, then every seed.
std::vector<TaskTable> length_tables(const Report&, const Summary&);

/// Returns the options of the grids that an experiment of the report has.
std::vector<std::string> grid_options(const Report&);

/// Returns the accuracy at each multiple of each grid. A multiple that was not tested has an empty cell.
std::vector<Cell> multiple_cells(const ExperimentResult&, const std::vector<std::string>& options);

/// Returns the multiple that a seed keeps, and the largest one that it was tested at; empty cells without a grid.
std::vector<Cell> effective_cells(const std::optional<EffectiveLength>&, size_t seed);

}  // namespace posbench
