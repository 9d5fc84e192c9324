#include "model/layers.h"

#include <cmath>

namespace posbench {

void linear(const In& x, const MatrixOperand& w, const In& b, Out y) { multiply_from(b, x, w, y); }

DenseParameters add_dense(ParameterLayout& layout, const std::string& name, Index inputs, Index outputs) {
  const double bound = 1 / std::sqrt(static_cast<double>(inputs));
  return {layout.uniform(name + ".weight", inputs, outputs, -bound, bound),
          layout.constant(name + ".bias", 1, outputs, 0)};
}

NormParameters add_norm(ParameterLayout& layout, const std::string& name, Index width) {
  return {layout.constant(name + ".weight", 1, width, 1), layout.constant(name + ".bias", 1, width, 0)};
}

void linear_backward(const In& x, const MatrixOperand& w, const In& d_y, Out d_x, Out d_w, Out d_b) {
  multiply_add(d_y, w.transpose(), d_x);
  multiply_add(x.transpose(), d_y, d_w);
  kernels().add_column_sums(rows(d_y), d_b.data());
}

void first_linear_backward(const In& x, const MatrixOperand& w, const In& d_y, Out d_x, Out d_w, Out d_b) {
  multiply(d_y, w.transpose(), d_x);
  multiply_add(x.transpose(), d_y, d_w);
  kernels().add_column_sums(rows(d_y), d_b.data());
}

void layer_norm(const In& x, const In& gain, const In& bias, Out normalized, Out rstd, Out y) {
  kernels().layer_norm(rows(x), gain.data(), bias.data(), rows(normalized), rstd.data(), rows(y));
}

void layer_norm_backward(const In& gain, const In& normalized, const In& rstd, const In& d_y,
                             Out d_x, Out d_gain, Out d_bias) {
  kernels().layer_norm_backward(gain.data(), rows(normalized), rstd.data(), rows(d_y), rows(d_x),
                                    d_gain.data(), d_bias.data());
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

void gelu(Out x, Out y) { kernels().gelu(rows(x), rows(y)); }

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
  return weight * kernels().cross_entropy(rows(logits), targets.data(), static_cast<Real>(weight), rows(d_logits));
}

}  // namespace posbench
