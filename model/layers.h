// The layers of the transformer as free functions, each forward beside its backward. A backward receives what its
// forward received (and gave, where that helps), then the gradient of the result, then what it fills. It adds into
// what it fills.
#pragma once
#include <cmath>
#include <span>
#include <string>

#include "model/parameters.h"
#include "model/product.h"

namespace posbench {

/// NAME.weight (inputs, outputs), uniform within 1 / sqrt(inputs), as PyTorch's linear layers are, so that
/// attention starts nearly uniform; NAME.bias (1, outputs), zero.
struct DenseParameters {
  Parameter weight, bias;
};
DenseParameters add_dense(ParameterLayout&, const std::string& name, Index inputs, Index outputs);

/// NAME.weight (1, width), one; NAME.bias (1, width), zero.
struct NormParameters {
  Parameter gain, bias;
};
NormParameters add_norm(ParameterLayout&, const std::string& name, Index width);
/// What the backward of a layer normalization reads again: the normalized rows (T, C), and 1 / standard deviation
/// (T, 1).
struct NormActivations {
  Matrix normalized, rstd;
};

/// y = x w + b.   x (T, C), w (C, O), b (1, O), y (T, O).
void linear(const In& x, const Factor& w, const In& b, Out y);
/// d_x += d_y w^T,   d_w += x^T d_y,   d_b += the column sums of d_y.
void linear_backward(const In& x, const Factor& w, const In& d_y, Out d_x, Out d_w, Out d_b);
/// The same where d_x starts here: d_x = d_y w^T.
void first_linear_backward(const In& x, const Factor& w, const In& d_y, Out d_x, Out d_w, Out d_b);

/// Layer normalization (Ba et al. 2016, arXiv:1607.06450): every row shifted and scaled to mean 0 and variance 1,
/// then times gain (1, C) plus bias (1, C). Keeps the normalized rows and rstd = 1 / standard deviation (T, 1) for
/// the backward.
void layer_norm(const In& x, const In& gain, const In& bias, Out normalized, Out rstd, Out y);
void layer_norm_backward(const In& gain, const In& normalized, const In& rstd, const In& d_y, Out d_x, Out d_gain,
                         Out d_bias);

/// The same for the parameters of a model; y and what is kept are sized here.
void layer_norm(const Parameters&, const NormParameters&, const Matrix& x, NormActivations&, Matrix& y);
void layer_norm_backward(const Parameters&, const NormParameters&, const NormActivations&, const Matrix& d_y,
                         Matrix& d_x, Gradients&);

/// y = GELU(x) in its tanh form (Hendrycks and Gimpel 2016, arXiv:1606.08415), x / 2 (1 + tanh(u)) = x sigmoid(2
/// u) with u = sqrt(2 / pi) (x + 0.044715 x^3). x becomes the derivative dy / dx, which is all that the backward
/// needs: d_x = derivative d_y.
void gelu(Out x, Out y);
void relu(Out x, Out y);

/// log(1 + e^x) of a number, of an array expression, and of all entries of a matrix, where y may be x.
/// log(sigmoid(x)) = -softplus(-x).
inline Real softplus(Real x) { return std::log1p(std::exp(x)); }
template <class Array>
auto softplus(const Eigen::ArrayBase<Array>& x) {
  return x.derived().max(Real(0)) + (-x.derived().abs()).exp().log1p();
}
void softplus(const In& x, Out y);

/// LeakyReLU of an array expression: x, or leak x where that is larger; 0 <= leak <= 1.
template <class Array>
auto leaky_relu(const Eigen::ArrayBase<Array>& x, Real leak) {
  return x.derived().max(leak * x.derived());
}
/// Its derivative, from what it was given or from what it gave, as their signs are the same: 1 above zero and leak
/// below, without a branch.
template <class Array>
auto leaky_relu_derivative(const Eigen::ArrayBase<Array>& x, Real leak) {
  constexpr Real kSteep = Real(1e30);
  return (x.derived() * kSteep).min(Real(1)).max(leak);
}

/// Row t of y is row tokens[t] of the table.
void embed(std::span<const int> tokens, const In& table, Out y);
void embed_backward(std::span<const int> tokens, const In& d_y, Out d_table);

/// Row n of y is row rows[n] of x.
void gather(const In& x, std::span<const int> rows, Out y);
/// Row rows[n] of d_x += row n of d_y.
void scatter_add(const In& d_y, std::span<const int> rows, Out d_x);

/// Zeroes each entry of x with this probability and divides the others by 1 - probability. The mask keeps the
/// factors: d_x = mask * d_y.
void dropout(double probability, Rng&, Matrix& mask, Matrix& x);

/// The sum over rows of the cross-entropy between softmax(logits) and targets, times `weight`. logits (N, V).
/// d_logits is overwritten.
double cross_entropy(const In& logits, std::span<const int> targets, double weight, Out d_logits);

}  // namespace posbench
