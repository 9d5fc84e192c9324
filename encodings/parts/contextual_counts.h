// Positions that count gates: the counts of a query's keys, and position scores interpolated between whole counts.
#pragma once
#include "model/kernels.h"
#include "model/lanes.h"

namespace posbench::inline POSBENCH_REAL {

/// Vectors are read and written up to this many entries beyond the last row of the position scores.
constexpr Index kCountPadding = 2 * kLanes;

/// A query that sees the first `keys` of `length` keys.
struct GatedQuery {
  const Real* gates;            // (keys) g(m), in (0, 1)
  const Real* position_scores;  // (rows + kCountPadding) z(n), the score of the whole count n
  Index keys, length, rows;
};

/// counts[j] = p(j) = min(g(j) + g(j + 1) + ... + g(keys - 1), rows - 1)
void count_gates(const GatedQuery&, Real* counts);

/// scores[j] += (1 - f) z(n) + f z(n + 1),   n = floor(p(j)), f = p(j) - n
void add_position_scores(const GatedQuery&, Real* scores);
/// d_z(n) += d_scores[j] (1 - f),   d_z(n + 1) += d_scores[j] f   for each key j, with n = floor(p(j)) and d_z = 0
/// d_p(j) = d_scores[j] (z(n + 1) - z(n)),   d_logits[m] = (d_p(0) + ... + d_p(m)) g(m) (1 - g(m))
/// Both outputs are overwritten. The kBand (model/kernels.h) entries after the query's keys become zero.
void position_scores_backward(const GatedQuery&, const Real* d_scores, Real* d_z, Real* d_logits);

}  // namespace posbench::inline POSBENCH_REAL
