#include "encodings/parts/entmax_rows.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/attention.h"

namespace posbench::inline POSBENCH_REAL {
namespace {

/// Returns base^exponent, with few operations for alpha = 1.5 or 2.
Real power(Real base, Real exponent) {
  if (exponent == 1) return base;
  if (exponent == 2) return base * base;
  return std::pow(base, exponent);
}

}  // namespace

void entmax_rows(const In& scores, Real alpha, bool causal, Out attention) {
  constexpr int kMaxSteps = 60;
  const Index T = scores.rows();
  const Real scale = alpha - 1, exponent = 1 / scale, precision = 4 * std::numeric_limits<Real>::epsilon();
  for (Index i = 0; i < T; ++i) {
    const Index keys = num_visible_keys(i, T, causal);
    const Real* z = scores.row(i).data();
    Real* weight = attention.row(i).data();
    const Real best = *std::max_element(z, z + keys);
    // The sum is convex, falls with tau and is at least 1 at tau = -1, so that Newton's steps approach from
    // the left.
    Real tau = -1;
    for (int step = 0; step < kMaxSteps; ++step) {
      Real sum = 0, slope = 0;
      for (Index j = 0; j < keys; ++j) {
        const Real above = std::max(scale * (z[j] - best) - tau, Real(0));
        if (above == 0) continue;
        const Real part = power(above, exponent - 1);
        sum += above * part;
        slope += exponent * part;
      }
      const Real move = (sum - 1) / slope;
      tau += move;
      if (move <= precision) break;
    }
    for (Index j = 0; j < keys; ++j) weight[j] = power(std::max(scale * (z[j] - best) - tau, Real(0)), exponent);
  }
  zero_future_keys(causal, attention);
}

void entmax_rows_backward(const In& attention, Real alpha, bool causal, const In& d_attention, Out d_scores) {
  const Index T = attention.rows();
  for (Index i = 0; i < T; ++i) {
    const Index keys = num_visible_keys(i, T, causal);
    const Real *weight = attention.row(i).data(), *d = d_attention.row(i).data();
    Real *d_row = d_scores.row(i).data(), total = 0, along = 0;
    for (Index j = 0; j < keys; ++j) {
      d_row[j] = weight[j] > 0 ? std::pow(weight[j], 2 - alpha) : 0;
      total += d_row[j];
      along += d_row[j] * d[j];
    }
    for (Index j = 0; j < keys; ++j) d_row[j] *= d[j] - along / total;
    std::fill(d_row + keys, d_row + T, Real(0));
  }
}

void entmax_rows(const Heads& scores, Real alpha, bool causal, Heads& attention) {
  for (size_t h = 0; h < scores.size(); ++h) entmax_rows(scores[h], alpha, causal, attention[h]);
}

void entmax_rows_backward(const Heads& attention, Real alpha, bool causal, const Heads& d_attention,
                          Heads& d_scores) {
  for (size_t h = 0; h < attention.size(); ++h)
    entmax_rows_backward(attention[h], alpha, causal, d_attention[h], d_scores[h]);
}

}  // namespace posbench::inline POSBENCH_REAL
