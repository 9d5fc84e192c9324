#include "model/layers.h"

#include <cmath>
#include <span>
#include <string>

#include "model/kernels.h"

namespace posbench::inline POSBENCH_REAL {

DenseParameters add_dense(ParameterLayout& layout, const std::string& name, Index inputs, Index outputs,
                          bool biases) {
  const double bound = 1 / std::sqrt(static_cast<double>(inputs));
  return {layout.uniform(name + ".weight", inputs, outputs, -bound, bound),
          biases ? layout.constant(name + ".bias", 1, outputs, 0) : Parameter{}};
}

NormParameters add_norm(ParameterLayout& layout, const std::string& name, Index width, NormKind kind,
                        bool biases) {
  const bool shifts = kind == NormKind::layer_norm && biases;
  return {kind, layout.constant(name + ".weight", 1, width, 1),
          shifts ? layout.constant(name + ".bias", 1, width, 0) : Parameter{}};
}

void linear(const In& x, const MatrixOperand& w, const In& b, Out y) {
  b.size() > 0 ? multiply_plus_row(b, x, w, y) : multiply(x, w, y);
}

void linear_backward(const In& x, const MatrixOperand& w, const In& d_y, Out d_x, Out d_w, Out d_b,
                     Accumulate accumulate) {
  accumulate == Accumulate::yes ? multiply_add(d_y, w.transpose(), d_x) : multiply(d_y, w.transpose(), d_x);
  multiply_add(x.transpose(), d_y, d_w);
  if (d_b.size() > 0) kernels().add_column_sums(rows(d_y), d_b.data());
}

void layer_norm(const In& x, const In& gain, const In& bias, Out normalized, Out rstd, Out y) {
  kernels().layer_norm(rows(x), gain.data(), bias.data(), rows(normalized), rstd.data(), rows(y));
}

void layer_norm_backward(const In& gain, const In& normalized, const In& rstd, const In& d_y, Out d_x, Out d_gain,
                         Out d_bias) {
  kernels().layer_norm_backward(gain.data(), rows(normalized), rstd.data(), rows(d_y), rows(d_x), d_gain.data(),
                                d_bias.data());
}

void rms_norm(const In& x, const In& gain, Out normalized, Out rstd, Out y) {
  const Real fraction = 1 / static_cast<Real>(x.cols());
  for (Index t = 0; t < x.rows(); ++t) {
    rstd(t, 0) = 1 / std::sqrt(std::fma(fraction, dot(x.row(t), x.row(t)), kNormEpsilon));
    normalized.row(t) = rstd(t, 0) * x.row(t);
    y.row(t) = normalized.row(t).cwiseProduct(gain.row(0));
  }
}

void rms_norm_backward(const In& gain, const In& normalized, const In& rstd, const In& d_y, Out d_x, Out d_gain) {
  // With z the normalized row and g = gain * d_y:   d_x += (g - z mean(g z)) rstd
  const Real fraction = 1 / static_cast<Real>(d_y.cols());
  EigenMatrix g(1, d_y.cols());
  for (Index t = 0; t < d_y.rows(); ++t) {
    const auto z = normalized.row(t), d = d_y.row(t);
    g = d.cwiseProduct(gain.row(0));
    const Real along = fraction * dot(g, z);
    d_x.row(t) += rstd(t, 0) * (g.row(0) - along * z);
    d_gain.row(0) += d.cwiseProduct(z);
  }
}

void norm(const Parameters& p, const NormParameters& w, const Matrix& x, NormActivations& a, Matrix& y) {
  a.normalized.resize(x.rows(), x.cols());
  a.rstd.resize(x.rows(), 1);
  y.resize(x.rows(), x.cols());
  if (w.kind == NormKind::rms_norm) return rms_norm(x, p[w.gain], a.normalized, a.rstd, y);
  if (w.bias.size() > 0) return layer_norm(x, p[w.gain], p[w.bias], a.normalized, a.rstd, y);
  a.no_bias.resize(1, x.cols());
  a.no_bias.setZero();
  layer_norm(x, p[w.gain], a.no_bias, a.normalized, a.rstd, y);
}

void norm_summand(const Parameters& p, const NormParameters& w, const NormActivations& a, Matrix& summand) {
  for (Index t = 0; t < summand.rows(); ++t) {
    const Real mean = w.kind == NormKind::layer_norm ? summand.row(t).mean() : 0;
    summand.row(t).array() = a.rstd(t, 0) * (summand.row(t).array() - mean) * p[w.gain].row(0).array();
  }
}

void norm_backward(const Parameters& p, const NormParameters& w, NormActivations& a, const Matrix& d_y,
                   Matrix& d_x, Gradients& d) {
  if (w.kind == NormKind::rms_norm) {
    rms_norm_backward(p[w.gain], a.normalized, a.rstd, d_y, d_x, d[w.gain]);
  } else {
    layer_norm_backward(p[w.gain], a.normalized, a.rstd, d_y, d_x, d[w.gain],
                        w.bias.size() > 0 ? Out(d[w.bias]) : Out(a.no_bias));
  }
}

void gelu(Out x, Out y) { kernels().gelu(rows(x), rows(y)); }

void relu(Out x, Out y) {
  y = x.cwiseMax(Real(0));
  x = (x.array() > Real(0)).cast<Real>();
}

void silu(Out x, Out y) {
  sigmoid(x, y);
  for (Index t = 0; t < x.rows(); ++t) {
    Real *in = x.row(t).data(), *out = y.row(t).data();
    for (Index c = 0; c < x.cols(); ++c) {
      const Real s = out[c], value = in[c] * s;
      in[c] = s + value * (1 - s);
      out[c] = value;
    }
  }
}

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
    mask.data()[n] = bernoulli(rng, probability) ? Real(0) : static_cast<Real>(1 / (1 - probability));
  x.array() *= mask.array();
}

double cross_entropy(const In& logits, std::span<const int> targets, double weight, Out d_logits) {
  return weight * kernels().cross_entropy(rows(logits), targets.data(), static_cast<Real>(weight), rows(d_logits));
}

}  // namespace posbench::inline POSBENCH_REAL
