// Distances between tokens, each once: what depends on distance alone is computed for T of them, not for T x T
// pairs.
#pragma once
#include "model/position_encoding.h"

namespace posbench {

/// Whether distance(i, j) depends on i - j alone and grows with it: then there are at most 2 T - 1 distances.
bool uniformly_spaced(const Positions&);

/// distances (1, N): those of all pairs of a query with a key that it sees, ascending.   index (T, T): which of
/// them a pair has. Where causal, later keys have none, and their index is 0.
void distinct_distances(const Positions&, bool causal, Matrix& distances, IndexMatrix& index);

}  // namespace posbench
