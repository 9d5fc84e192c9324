#include "model/layers.h"

#include <cmath>
#include <numbers>

#include "model/lanes.h"

namespace posbench {
namespace {

constexpr Real kNormEpsilon = Real(1e-5);

}  // namespace

DenseParameters add_dense(ParameterLayout& layout, const std::string& name, Index inputs, Index outputs) {
  const double bound = 1 / std::sqrt(static_cast<double>(inputs));
  return {layout.uniform(name + ".weight", inputs, outputs, -bound, bound),
          layout.constant(name + ".bias", 1, outputs, 0)};
}

NormParameters add_norm(ParameterLayout& layout, const std::string& name, Index width) {
  return {layout.constant(name + ".weight", 1, width, 1), layout.constant(name + ".bias", 1, width, 0)};
}

void linear(const In& x, const Factor& w, const In& b, Out y) { multiply_from(b, x, w, y); }

void linear_backward(const In& x, const Factor& w, const In& d_y, Out d_x, Out d_w, Out d_b) {
  multiply_add(d_y, w.transpose(), d_x);
  multiply_add(x.transpose(), d_y, d_w);
  d_b.row(0) += d_y.colwise().sum();
}

void first_linear_backward(const In& x, const Factor& w, const In& d_y, Out d_x, Out d_w, Out d_b) {
  multiply(d_y, w.transpose(), d_x);
  multiply_add(x.transpose(), d_y, d_w);
  d_b.row(0) += d_y.colwise().sum();
}

void layer_norm(const In& x, const In& gain, const In& bias, Out normalized, Out rstd, Out y) {
  constexpr Index kRows = 8;  // side by side, since each step of a row waits for the one before
  const Index C = x.cols();
  const Real inverse_width = 1 / static_cast<Real>(C), *scale = gain.data(), *shift = bias.data();
  for (Index first = 0; first < x.rows(); first += kRows) {
    const Index end = std::min(first + kRows, x.rows());
    Real means[kRows];
    for (Index t = first; t < end; ++t) {
      const Real* in = x.row(t).data();
      Lanes total{};
      for_each_lanes(C, [&](Index c, Index count) { total += load(in + c, count, 0); });
      means[t - first] = inverse_width * sum(total);
    }
    for (Index t = first; t < end; ++t) {
      const Real *in = x.row(t).data(), mean = means[t - first];
      Lanes squares{};
      for_each_lanes(C, [&](Index c, Index count) {
        const Lanes off = load(in + c, count, mean) - mean;
        squares += off * off;
      });
      rstd(t, 0) = 1 / std::sqrt(inverse_width * sum(squares) + kNormEpsilon);
    }
    for (Index t = first; t < end; ++t) {
      const Real *in = x.row(t).data(), mean = means[t - first], inverse = rstd(t, 0);
      Real *z = normalized.row(t).data(), *out = y.row(t).data();
      for_each_lanes(C, [&](Index c, Index count) {
        const Lanes value = (load(in + c, count, mean) - mean) * inverse;
        store(value, z + c, count);
        store(value * load(scale + c, count, 0) + load(shift + c, count, 0), out + c, count);
      });
    }
  }
}

void layer_norm_backward(const In& gain, const In& normalized, const In& rstd, const In& d_y, Out d_x, Out d_gain,
                         Out d_bias) {
  // With z the normalized row and g = gain * d_y:   d_x = (g - mean(g) - z mean(g z)) / deviation
  const Index C = d_y.cols();
  const Real inverse_width = 1 / static_cast<Real>(C), *scale = gain.data();
  Real *d_scale = d_gain.data(), *d_shift = d_bias.data();
  for (Index t = 0; t < d_y.rows(); ++t) {
    const Real *z = normalized.row(t).data(), *d = d_y.row(t).data(), inverse = rstd(t, 0);
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
    const Real mean = inverse_width * sum(total), correlation = inverse_width * sum(along);
    for_each_lanes(C, [&](Index c, Index count) {
      const Lanes g = load(d + c, count, 0) * load(scale + c, count, 0);
      store(load(d_in + c, count, 0) + (g - mean - load(z + c, count, 0) * correlation) * inverse, d_in + c,
            count);
    });
  }
}

void layer_norm(const Parameters& p, const NormParameters& w, const Matrix& x, NormActivations& a, Matrix& y) {
  a.normalized.resize(x.rows(), x.cols());
  a.rstd.resize(x.rows(), 1);
  y.resize(x.rows(), x.cols());
  layer_norm(x, p[w.gain], p[w.bias], a.normalized, a.rstd, y);
}

void layer_norm_backward(const Parameters& p, const NormParameters& w, const NormActivations& a, const Matrix& d_y,
                         Matrix& d_x, Gradients& d) {
  layer_norm_backward(p[w.gain], a.normalized, a.rstd, d_y, d_x, d[w.gain], d[w.bias]);
}

void gelu(Out x, Out y) {
  const Real scale = 2 * std::sqrt(2 / std::numbers::pi_v<Real>), cubic = scale * Real(0.044715);
  for (Index t = 0; t < x.rows(); ++t) {
    Real *in = x.row(t).data(), *out = y.row(t).data();
    for_each_lanes(x.cols(), [&](Index c, Index count) {
      const Lanes value = load(in + c, count, 0), square = value * value;
      const Lanes gate = sigmoid(value * (scale + cubic * square)), result = value * gate;
      store(result, out + c, count);
      store(gate + (result - result * gate) * (scale + 3 * cubic * square), in + c, count);
    });
  }
}

void relu(Out x, Out y) {
  y = x.cwiseMax(Real(0));
  x = (x.array() > Real(0)).cast<Real>();
}

void softplus(const In& x, Out y) { y = softplus(x.array()); }

void embed(std::span<const int> tokens, const In& table, Out y) {
  for (size_t t = 0; t < tokens.size(); ++t) y.row(static_cast<Index>(t)) = table.row(tokens[t]);
}

void embed_backward(std::span<const int> tokens, const In& d_y, Out d_table) {
  for (size_t t = 0; t < tokens.size(); ++t) d_table.row(tokens[t]) += d_y.row(static_cast<Index>(t));
}

void gather(const In& x, std::span<const int> rows, Out y) {
  for (size_t n = 0; n < rows.size(); ++n) y.row(static_cast<Index>(n)) = x.row(rows[n]);
}

void scatter_add(const In& d_y, std::span<const int> rows, Out d_x) {
  for (size_t n = 0; n < rows.size(); ++n) d_x.row(rows[n]) += d_y.row(static_cast<Index>(n));
}

void dropout(double probability, Rng& rng, Matrix& mask, Matrix& x) {
  mask.resize(x.rows(), x.cols());
  for (Index n = 0; n < x.size(); ++n)
    mask.data()[n] = chance(rng, probability) ? Real(0) : static_cast<Real>(1 / (1 - probability));
  x.array() *= mask.array();
}

double cross_entropy(const In& logits, std::span<const int> targets, double weight, Out d_logits) {
  double loss = 0;
  for (Index n = 0; n < logits.rows(); ++n) {
    const int target = targets[n];
    const Real* in = logits.row(n).data();
    Real* d = d_logits.row(n).data();
    Lanes top = Lanes{} - INFINITY, total{};
    for_each_lanes(logits.cols(),
                   [&](Index c, Index count) { top = larger(load(in + c, count, -INFINITY), top); });
    const Real highest = largest(top);
    for_each_lanes(logits.cols(), [&](Index c, Index count) {
      const Lanes unnormalized = exponential(load(in + c, count, -INFINITY) - highest);
      total += unnormalized;
      store(unnormalized, d + c, count);
    });
    const Real all = sum(total), scale = static_cast<Real>(weight) / all;
    loss += std::log(static_cast<double>(all)) + highest - logits(n, target);
    d_logits.row(n) *= scale;  // weight (softmax - one at the target)
    d[target] -= static_cast<Real>(weight);
  }
  return loss * weight;
}

}  // namespace posbench
