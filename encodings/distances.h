// Distances between tokens, each once: what depends on distance alone is worked out for T of them, not for T x T
// pairs.
#pragma once
#include "model/position_encoding.h"

namespace posbench {

/// distances (1, N): those of all pairs of a query with a key that it sees, ascending.   index (T, T): which of
/// them a pair has. Where causal, later keys have none, and their index is 0.
void distinct_distances(const Positions&, bool causal, Matrix& distances, Matrix& index);

}  // namespace posbench
