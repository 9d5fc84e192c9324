// Finds the marks of tasks and the recurrent models of reports for the board.
#pragma once
#include "results/statistics/board.h"

namespace posbench {

/// Returns the facts about tasks and models that merge_board needs.
BoardLookups board_lookups();

}  // namespace posbench
