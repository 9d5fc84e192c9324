// A causal convolution over the tokens, channel by channel, and heads divided by their norms.
#pragma once
#include "model/tensor.h"

namespace posbench::inline POSBENCH_REAL {

/// y_t = taps_0 * x_(t - N + 1) + ... + taps_(N - 1) * x_t.   x, y (T, channels), taps (N, channels).
void convolve_tokens(const In& x, const In& taps, Out y);
/// d_x_s += the sum of taps_n * d_y_t over the terms taps_n * x_s,   d_taps_n += the sum of x_s * d_y_t over them.
void convolve_tokens_backward(const In& x, const In& taps, const In& d_y, Out d_x, Out d_taps);

/// y = x / sqrt(|x|^2 + 1e-6) for each row and each slice of `width` columns.
void normalize_slices(const In& x, Index width, Out y);
/// d_x += (d_y - y (y . d_y)) / sqrt(|x|^2 + 1e-6), slice by slice.
void normalize_slices_backward(const In& x, Index width, const In& y, const In& d_y, Out d_x);

}  // namespace posbench::inline POSBENCH_REAL
