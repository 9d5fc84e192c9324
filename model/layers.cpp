#include "model/layers.h"

#include <cmath>
#include <numbers>

#include "model/lanes.h"
#include "model/product.h"

namespace posbench {
namespace {

constexpr Real kNormEpsilon = Real(1e-5);

}  // namespace

void linear(const In& x, const In& w, const In& b, Out y) {
  y.rowwise() = b.row(0);
  multiply_add(x, w, y);
}

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
  for (Index t = 0; t < x.rows(); ++t) {
    const Real mean = x.row(t).mean();
    normalized.row(t) = x.row(t).array() - mean;
    const Real deviation = std::sqrt(normalized.row(t).squaredNorm() / static_cast<Real>(x.cols()) + kNormEpsilon);
    inverse_deviation(t, 0) = 1 / deviation;
    normalized.row(t) /= deviation;
    y.row(t) = normalized.row(t).cwiseProduct(gain.row(0)) + bias.row(0);
  }
}

void normalize_rows_backward(const In& gain, const In& normalized, const In& inverse_deviation, const In& d_y,
                             Out d_x, Out d_gain, Out d_bias) {
  // With z the normalized row and g = gain * d_y:   d_x = (g - mean(g) - z mean(g z)) / deviation
  for (Index t = 0; t < d_y.rows(); ++t) {
    const auto z = normalized.row(t);
    const auto g = d_y.row(t).cwiseProduct(gain.row(0));
    const Real mean = g.mean(), along = g.dot(z) / static_cast<Real>(z.size());
    d_x.row(t).array() += (g.array() - mean - z.array() * along) * inverse_deviation(t, 0);
    d_gain.row(0) += d_y.row(t).cwiseProduct(z);
    d_bias.row(0) += d_y.row(t);
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
