// Computes elementwise functions and sums that give the same bytes on every processor. The results of Eigen and of
// the C library depend on the width of vectors and on the library.
#pragma once
#include "model/tensor.h"

namespace posbench::inline POSBENCH_REAL {

/// y = f(x), elementwise; y may be x.
void exponential(const In& x, Out y);
void sigmoid(const In& x, Out y);
void hyperbolic_tangent(const In& x, Out y);
/// y = log(1 + e^x); log(sigmoid(x)) = -softplus(-x).
void softplus(const In& x, Out y);
/// y = log(x) with an error of 2e-7 max(1, |log(x)|), for x > 0 that are not denormal.
void logarithm(const In& x, Out y);
/// Computes sines and cosines with an error of 1e-7, for |angles| up to 1e5. `sines` or
/// `cosines` may be `angles`.
void sine_cosine(const In& angles, Out sines, Out cosines);

/// Returns the sum of all entries.
Real sum(const In& x);
/// Returns the sum of a * b, entry by entry.
Real dot(const In& a, const In& b);
/// sums (1, columns) += the sum of all rows of x.
void add_column_sums(const In& x, Out sums);

}  // namespace posbench::inline POSBENCH_REAL
