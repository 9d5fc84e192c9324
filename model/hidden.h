// Marks the scores of keys that a bias or a window hides from a query.
#pragma once
#include "model/tensor.h"

namespace posbench {

constexpr Real kHidden = -1e9;  // a score that the softmax turns into 0

/// Returns whether a score hides its key, whatever content was added to it.
inline bool is_hidden(Real score) { return score < kHidden / 10; }

}  // namespace posbench
