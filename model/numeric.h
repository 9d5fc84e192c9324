// Functions of numbers one by one, and sums of them, that give the same bytes on every processor: what Eigen and the
// C library compute may depend on the width of vectors.
#pragma once
#include "model/tensor.h"

namespace posbench {

/// y = f(x), entry by entry; they may be the same.
void exponential(const In& x, Out y);
void sigmoid(const In& x, Out y);
/// log(1 + e^x), and log(sigmoid(x)) = -softplus(-x).
void softplus(const In& x, Out y);

/// Of one row.
Real sum(const In& row);
Real dot(const In& a, const In& b);

}  // namespace posbench
