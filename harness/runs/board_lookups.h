// Finds the marks of tasks and the recurrent models of reports for the board.
#pragma once
#include <string>

#include "results/statistics/board.h"

namespace posbench {

/// Returns the facts about tasks and models that merge_board needs.
BoardLookups board_lookups();

/// Returns true if this is the name of a block with a recurrent layer in place of attention.
bool is_recurrent_block(const std::string& name);

}  // namespace posbench
