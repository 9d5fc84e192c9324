#include "model/layers.h"

#include <cmath>
#include <numbers>

#include "model/lanes.h"
#include "model/product.h"

namespace posbench {
namespace {

constexpr Real kNormEpsilon = Real(1e-5);

}  // namespace

void linear(const In& x, const In& w, const In& b, Out y) { multiply_from(b, x, w, y); }

void linear_backward(const In& x, const In& w, const In& d_y, Out d_x, Out d_w, Out d_b) {
  multiply_add(d_y, w.transpose(), d_x);
  multiply_add(x.transpose(), d_y, d_w);
  d_b.row(0) += d_y.colwise().sum();
}

void first_linear_backward(const In& x, const In& w, const In& d_y, Out d_x, Out d_w, Out d_b) {
  multiply(d_y, w.transpose(), d_x);
  multiply_add(x.transpose(), d_y, d_w);
  d_b.row(0) += d_y.colwise().sum();
}

void normalize_rows(const In& x, const In& gain, const In& bias, Out normalized, Out inverse_deviation, Out y) {
  const Index C = x.cols();
  const Real *scale = gain.data(), *shift = bias.data();
  for (Index t = 0; t < x.rows(); ++t) {
    const Real* in = x.row(t).data();
    Real *z = normalized.row(t).data(), *out = y.row(t).data();
    Lanes total{}, squares{};
    for_each_lanes(C, [&](Index c, Index count) { total += load(in + c, count, 0); });
    const Real mean = sum(total) / static_cast<Real>(C);
    for_each_lanes(C, [&](Index c, Index count) {
      const Lanes off = load(in + c, count, mean) - mean;
      squares += off * off;
    });
    const Real inverse = 1 / std::sqrt(sum(squares) / static_cast<Real>(C) + kNormEpsilon);
    inverse_deviation(t, 0) = inverse;
    for_each_lanes(C, [&](Index c, Index count) {
      const Lanes value = (load(in + c, count, mean) - mean) * inverse;
      store(value, z + c, count);
      store(value * load(scale + c, count, 0) + load(shift + c, count, 0), out + c, count);
    });
  }
}

void normalize_rows_backward(const In& gain, const In& normalized, const In& inverse_deviation, const In& d_y,
                             Out d_x, Out d_gain, Out d_bias) {
  // With z the normalized row and g = gain * d_y:   d_x = (g - mean(g) - z mean(g z)) / deviation
  const Index C = d_y.cols();
  const Real* scale = gain.data();
  Real *d_scale = d_gain.data(), *d_shift = d_bias.data();
  for (Index t = 0; t < d_y.rows(); ++t) {
    const Real *z = normalized.row(t).data(), *d = d_y.row(t).data(), inverse = inverse_deviation(t, 0);
    Real* d_in = d_x.row(t).data();
    Lanes total{}, along{};
    for_each_lanes(C, [&](Index c, Index count) {
      const Lanes d_out = load(d + c, count, 0), value = load(z + c, count, 0);
      const Lanes g = d_out * load(scale + c, count, 0);
      total += g;
      along += g * value;
      store(load(d_scale + c, count, 0) + d_out * value, d_scale + c, count);
      store(load(d_shift + c, count, 0) + d_out, d_shift + c, count);
    });
    const Real mean = sum(total) / static_cast<Real>(C), slope = sum(along) / static_cast<Real>(C);
    for_each_lanes(C, [&](Index c, Index count) {
      const Lanes g = load(d + c, count, 0) * load(scale + c, count, 0);
      store(load(d_in + c, count, 0) + (g - mean - load(z + c, count, 0) * slope) * inverse, d_in + c, count);
    });
  }
}

void gelu(Out x, Out y) {
  const Real scale = 2 * std::sqrt(2 / std::numbers::pi_v<Real>), cubic = Real(0.044715);
  for (Index t = 0; t < x.rows(); ++t) {
    Real *in = x.row(t).data(), *out = y.row(t).data();
    for_each_lanes(x.cols(), [&](Index c, Index count) {
      const Lanes value = load(in + c, count, 0), square = value * value;
      const Lanes share = sigmoid(scale * value * (1 + cubic * square)), result = value * share;
      store(result, out + c, count);
      store(share + result * (1 - share) * (scale + 3 * scale * cubic * square), in + c, count);
    });
  }
}

void relu(Out x, Out y) {
  y = x.cwiseMax(Real(0));
  x = (x.array() > Real(0)).cast<Real>();
}

void embed(std::span<const int> tokens, const In& table, Out y) {
  for (size_t t = 0; t < tokens.size(); ++t) y.row(static_cast<Index>(t)) = table.row(tokens[t]);
}

void embed_backward(std::span<const int> tokens, const In& d_y, Out d_table) {
  for (size_t t = 0; t < tokens.size(); ++t) d_table.row(tokens[t]) += d_y.row(static_cast<Index>(t));
}

double cross_entropy(const In& logits, std::span<const int> targets, double weight, Out d_logits) {
  double loss = 0;
  for (Index n = 0; n < logits.rows(); ++n) {
    const int target = targets[n];
    const Real highest = logits.row(n).maxCoeff();
    d_logits.row(n) = (logits.row(n).array() - highest).exp();
    const Real sum = d_logits.row(n).sum();
    loss += std::log(static_cast<double>(sum)) + highest - logits(n, target);
    d_logits.row(n) *= static_cast<Real>(weight) / sum;  // weight (softmax - one at the target)
    d_logits(n, target) -= static_cast<Real>(weight);
  }
  return loss * weight;
}

}  // namespace posbench
