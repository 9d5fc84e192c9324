#include "model/layers.h"

#include <cmath>
#include <numbers>

namespace posbench {
namespace {

constexpr Real kNormEpsilon = Real(1e-5);

// u(x) = sqrt(2 / pi) (x + 0.044715 x^3) and its slope.
const Real kGeluScale = std::sqrt(Real(2) / std::numbers::pi_v<Real>);
constexpr Real kGeluCubic = Real(0.044715);

}  // namespace

void linear(const In& x, const In& w, const In& b, Out y) {
  y.rowwise() = b.row(0);
  y.noalias() += x * w;
}

void linear_backward(const In& x, const In& w, const In& d_y, Out d_x, Out d_w, Out d_b) {
  d_x.noalias() += d_y * w.transpose();
  d_w.noalias() += x.transpose() * d_y;
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

void gelu(const In& x, Out y) {
  for (Index t = 0; t < x.rows(); ++t) {
    const auto r = x.row(t).array();
    y.row(t) = r / 2 * (1 + (kGeluScale * r * (1 + kGeluCubic * r.square())).tanh());
  }
}

void gelu_backward(const In& x, const In& d_y, Out d_x) {
  // with h = tanh(u(x)):   dy/dx = (1 + h) / 2 + x / 2 (1 - h^2) u'(x)
  for (Index t = 0; t < x.rows(); ++t) {
    const auto r = x.row(t).array();
    for (Index c = 0; c < r.size(); c += 64) {  // a piece at a time, so that h stays in registers and cache
      const Index n = std::min<Index>(64, r.size() - c);
      const auto s = r.segment(c, n);
      const Eigen::Array<Real, 1, Eigen::Dynamic, Eigen::RowMajor, 1, 64> h =
          (kGeluScale * s * (1 + kGeluCubic * s.square())).tanh();
      d_x.row(t).segment(c, n).array() +=
          d_y.row(t).segment(c, n).array() *
          ((1 + h) / 2 + s / 2 * (1 - h.square()) * (kGeluScale * (1 + 3 * kGeluCubic * s.square())));
    }
  }
}

void relu(const In& x, Out y) { y = x.cwiseMax(Real(0)); }

void relu_backward(const In& x, const In& d_y, Out d_x) {
  d_x.array() += (x.array() > Real(0)).select(d_y.array(), Real(0));
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
