#include "model/layers.h"

namespace posbench {

void linear(const In& x, const MatrixOperand& w, const In& b, Out y) { multiply_from(b, x, w, y); }

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

void normalize_rows(const In& x, const In& gain, const In& bias, Out normalized, Out inverse_deviation, Out y) {
  kernels().layer_norm(rows(x), gain.data(), bias.data(), rows(normalized), inverse_deviation.data(), rows(y));
}

void normalize_rows_backward(const In& gain, const In& normalized, const In& inverse_deviation, const In& d_y,
                             Out d_x, Out d_gain, Out d_bias) {
  kernels().layer_norm_backward(gain.data(), rows(normalized), inverse_deviation.data(), rows(d_y), rows(d_x),
                                    d_gain.data(), d_bias.data());
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

double cross_entropy(const In& logits, std::span<const int> targets, double weight, Out d_logits) {
  return weight * kernels().cross_entropy(rows(logits), targets.data(), static_cast<Real>(weight), rows(d_logits));
}

}  // namespace posbench
