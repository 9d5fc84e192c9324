// Defines the layers of the transformer as free functions, each forward next to its backward. A backward receives
// arguments and results of its forward, then the gradient of the result, then its outputs. It adds to its outputs.
#pragma once
#include <cmath>
#include <span>
#include <string>

#include "base/random.h"
#include "model/model_config.h"
#include "model/numeric.h"
#include "model/parameters.h"
#include "model/product.h"

namespace posbench::inline POSBENCH_REAL {

/// The parameters of a linear layer.
struct DenseParameters {
  Parameter weight, bias;  // (inputs, outputs); (1, outputs) or empty
};
/// Adds NAME.weight, uniform within 1 / sqrt(inputs) as in PyTorch, so that attention starts nearly uniform, and
/// NAME.bias, zero, if the layer has biases.
DenseParameters add_dense(ParameterLayout&, const std::string& name, Index inputs, Index outputs,
                          bool biases = true);

/// The parameters of a normalization.
struct NormParameters {
  NormKind kind = NormKind::layer_norm;
  Parameter gain, bias;  // (1, width); the bias is empty for an RMSNorm and without biases
};
/// Adds NAME.weight, one, and NAME.bias, zero.
NormParameters add_norm(ParameterLayout&, const std::string& name, Index width, NormKind = NormKind::layer_norm,
                        bool biases = true);
/// The values that the backward of a normalization needs.
struct NormActivations {
  Matrix normalized;  // (T, C)
  Matrix rstd;        // (T, 1): 1 / standard deviation, or 1 / root mean square
  Matrix no_bias;     // (1, C), without biases: zeros in their place, and their unused gradient
};

/// y = x w + b.   x (T, C), w (C, O), b (1, O) or empty, y (T, O).
void linear(const In& x, const MatrixOperand& w, const In& b, Out y);
/// States whether a result is added to the output or replaces it.
enum class Accumulate { no, yes };
/// d_x += d_y w^T,   d_w += x^T d_y,   d_b += the column sums of d_y.   Accumulate::no: d_x = d_y w^T.
void linear_backward(const In& x, const MatrixOperand& w, const In& d_y, Out d_x, Out d_w, Out d_b,
                     Accumulate = Accumulate::yes);

/// Layer normalization (Ba et al. 2016, arXiv:1607.06450): shifts and scales every row to mean 0 and variance 1,
/// then y = normalized gain + bias, with gain and bias (1, C). `normalized` and `rstd` are as in NormActivations.
void layer_norm(const In& x, const In& gain, const In& bias, Out normalized, Out rstd, Out y);
void layer_norm_backward(const In& gain, const In& normalized, const In& rstd, const In& d_y, Out d_x, Out d_gain,
                         Out d_bias);

/// RMSNorm (Zhang and Sennrich 2019, arXiv:1910.07467): divides every row by the root of the mean of its squares,
/// then y = normalized gain.
void rms_norm(const In& x, const In& gain, Out normalized, Out rstd, Out y);
void rms_norm_backward(const In& gain, const In& normalized, const In& rstd, const In& d_y, Out d_x, Out d_gain);

/// Computes one of the two with the parameters of a model. Resizes y and the activations.
void norm(const Parameters&, const NormParameters&, const Matrix& x, NormActivations&, Matrix& y);
void norm_backward(const Parameters&, const NormParameters&, NormActivations&, const Matrix& d_y, Matrix& d_x,
                   Gradients&);

/// Replaces a summand of x, the input of norm, by its share of y: with the statistics of x, y is a sum of such
/// shares and of the bias.
void norm_summand(const Parameters&, const NormParameters&, const NormActivations&, Matrix& summand);

/// y = GELU(x) in its tanh form (Hendrycks and Gimpel 2016, arXiv:1606.08415):
/// x / 2 (1 + tanh(u)) = x sigmoid(2 u) with u = sqrt(2 / pi) (x + 0.044715 x^3).
/// x is overwritten by the derivative dy / dx, which is all that the backward needs: d_x = derivative * d_y.
void gelu(Out x, Out y);
void relu(Out x, Out y);
/// y = x sigmoid(x); x is overwritten by the derivative.
void silu(Out x, Out y);

/// Returns log(1 + e^x) of a number, computed in double precision, where C libraries agree once the result is
/// rounded to a float. For matrices see model/numeric.h.
inline Real softplus(Real x) { return static_cast<Real>(std::log1p(std::exp(static_cast<double>(x)))); }

/// Returns the LeakyReLU of an array expression: max(x, leak x), 0 <= leak <= 1.
template <class Array>
auto leaky_relu(const Eigen::ArrayBase<Array>& x, Real leak) {
  return x.derived().max(leak * x.derived());
}
/// Returns its derivative, 1 above zero and `leak` below, without a branch. x may be the input or the output of
/// leaky_relu, which have the same sign.
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

/// Sets each entry of x to zero with this probability and divides the others by 1 - probability. The mask receives
/// these factors: d_x = mask * d_y.
void dropout(double probability, Rng&, Matrix& mask, Matrix& x);

/// Returns the sum over rows of the cross-entropy between softmax(logits) and targets, times `weight`. logits (N,
/// V). Overwrites d_logits.
double cross_entropy(const In& logits, std::span<const int> targets, double weight, Out d_logits);

}  // namespace posbench::inline POSBENCH_REAL
