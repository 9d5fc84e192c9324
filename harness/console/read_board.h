// Reads the board that the program contains.
#pragma once
#include <span>
#include <vector>

#include "results/statistics/aspect_scores.h"
#include "results/statistics/board.h"

namespace posbench {

/// Reads all reports of the board and merges them with the user's. Shows a status line meanwhile. Throws InputError
/// as merge_board does.
BoardReport read_board(std::span<const NamedReport> users = {}, bool allow_different_budget = false);

/// Returns the aspects that tasks of the report test, in the order of their enumerators.
std::vector<AspectTasks> tasks_by_aspect(const Report&);

}  // namespace posbench
