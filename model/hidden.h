// Marks the scores of keys that a bias or a window hides from a query. A hidden key is excluded, not scored low:
// no score of a visible key is lower, and every normalization gives it a weight of exactly 0. The query's own key
// is never hidden.
#pragma once
#include <limits>

#include "model/tensor.h"

namespace posbench::inline POSBENCH_REAL {

constexpr Real kHidden = -std::numeric_limits<Real>::infinity();

/// Returns whether a score hides its key, whatever content was added to it.
inline bool is_hidden(Real score) { return score == kHidden; }

}  // namespace posbench::inline POSBENCH_REAL
