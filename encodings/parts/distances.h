// Finds the different distances between tokens, so that a function of distance is computed once for each distance
// and not for each pair.
#pragma once
#include "model/position_encoding.h"

namespace posbench::inline POSBENCH_REAL {

/// Returns true if distance(i, j) depends on i - j alone and grows with it. At most 2 T - 1 distances then occur.
bool uniformly_spaced(const Positions&);

/// Sets distances (1, N) to the distances of all pairs of a query and a key that it sees, ascending, and index (T,
/// T) to the index of each pair's distance. The index of future keys in causal models is 0.
void distinct_distances(const Positions&, bool causal, Matrix& distances, IndexMatrix& index);

}  // namespace posbench::inline POSBENCH_REAL
