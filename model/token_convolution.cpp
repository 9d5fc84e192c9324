#include "model/token_convolution.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "model/numeric.h"

namespace posbench::inline POSBENCH_REAL {
namespace {

/// Calls f(tap, rows) for each tap: `rows` tokens have a token at the tap's lag before them.
template <class F>
void for_each_tap(Index taps, Index length, F f) {
  for (Index tap = 0; tap < taps; ++tap) f(tap, std::max<Index>(0, length - (taps - 1 - tap)));
}

Real inverse_norm(const In& slice) {
  constexpr Real kSmall = 1e-6;
  return 1 / std::sqrt(dot(slice, slice) + kSmall);
}

}  // namespace

void convolve_tokens(const In& x, const In& taps, Out y) {
  y.setZero();
  for_each_tap(taps.rows(), x.rows(), [&](Index tap, Index rows) {
    y.bottomRows(rows).array() += x.topRows(rows).array().rowwise() * taps.row(tap).array();
  });
}

void convolve_tokens_backward(const In& x, const In& taps, const In& d_y, Out d_x, Out d_taps) {
  for_each_tap(taps.rows(), x.rows(), [&](Index tap, Index rows) {
    const EigenMatrix products = d_y.bottomRows(rows).cwiseProduct(x.topRows(rows));
    add_column_sums(products, d_taps.row(tap));
    d_x.topRows(rows).array() += d_y.bottomRows(rows).array().rowwise() * taps.row(tap).array();
  });
}

Parameter add_residual_convolution(ParameterLayout& layout, const std::string& name, Index channels) {
  const double bound = 1 / std::sqrt(static_cast<double>(kConvolutionTaps));
  return layout.uniform(name, kConvolutionTaps, channels, -bound, bound);
}

void residual_convolution(const In& taps, Matrix& x, Matrix& input) {
  input = x;
  convolve_tokens(input, taps, x);
  x += input;
}

void residual_convolution_backward(const In& taps, const Matrix& input, Matrix& d_x, Matrix& d_result,
                                   Out d_taps) {
  d_result = d_x;
  convolve_tokens_backward(input, taps, d_result, d_x, d_taps);
}

void normalize_slices(const In& x, Index width, Out y) {
  for (Index t = 0; t < x.rows(); ++t) {
    for (Index first = 0; first < x.cols(); first += width) {
      const auto slice = x.row(t).segment(first, width);
      y.row(t).segment(first, width) = slice * inverse_norm(slice);
    }
  }
}

void normalize_slices_backward(const In& x, Index width, const In& y, const In& d_y, Out d_x) {
  for (Index t = 0; t < x.rows(); ++t) {
    for (Index first = 0; first < x.cols(); first += width) {
      const auto unit = y.row(t).segment(first, width), d_unit = d_y.row(t).segment(first, width);
      const Real along = dot(unit, d_unit);
      d_x.row(t).segment(first, width) += (d_unit - along * unit) * inverse_norm(x.row(t).segment(first, width));
    }
  }
}

}  // namespace posbench::inline POSBENCH_REAL
