// Computes causal convolutions over the tokens, channel by channel, and heads divided by their norms.
#pragma once
#include <string>

#include "model/parameters.h"
#include "model/tensor.h"

namespace posbench::inline POSBENCH_REAL {

/// y_t = taps_0 * x_(t - N + 1) + ... + taps_(N - 1) * x_t.   x, y (T, channels), taps (N, channels).
void convolve_tokens(const In& x, const In& taps, Out y);
/// d_x_s += the sum of taps_n * d_y_t over the terms taps_n * x_s,   d_taps_n += the sum of x_s * d_y_t over them.
void convolve_tokens_backward(const In& x, const In& taps, const In& d_y, Out d_x, Out d_taps);

/// The taps of a residual convolution.
inline constexpr Index kConvolutionTaps = 4;
/// Adds the taps of a residual convolution, (taps, channels), uniform within 1 / sqrt(taps) as in PyTorch.
Parameter add_residual_convolution(ParameterLayout&, const std::string& name, Index channels);
/// x += convolve_tokens(x). `input` receives the former x, for backward.
void residual_convolution(const In& taps, Matrix& x, Matrix& input);
/// d_x, the gradient of the result, becomes that of the input. `d_result` is memory.
void residual_convolution_backward(const In& taps, const Matrix& input, Matrix& d_x, Matrix& d_result, Out d_taps);

/// y = x / sqrt(|x|^2 + 1e-6) for each row and each slice of `width` columns.
void normalize_slices(const In& x, Index width, Out y);
/// d_x += (d_y - y (y . d_y)) / sqrt(|x|^2 + 1e-6), slice by slice.
void normalize_slices_backward(const In& x, Index width, const In& y, const In& d_y, Out d_x);

}  // namespace posbench::inline POSBENCH_REAL
