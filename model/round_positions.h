// Rounds the positions of a sequence.
#pragma once
#include "model/position_encoding.h"

namespace posbench::inline POSBENCH_REAL {

/// Rounds positions and coordinates, if the rounding includes positions, and sets it for the values that encodings
/// compute from them.
void round_positions(Rounding, Positions&);

}  // namespace posbench::inline POSBENCH_REAL
