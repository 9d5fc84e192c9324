// Reads the board that the program contains.
#pragma once
#include <vector>

#include "results/statistics/aspect_scores.h"
#include "results/statistics/board.h"

namespace posbench {

/// Reads all reports of the board and merges them. A line on the terminal tells that this is under way.
BoardReport read_board();

/// Returns the aspects that tasks of the report test, in the order of their enumerators.
std::vector<AspectTasks> tasks_by_aspect(const Report&);

}  // namespace posbench
