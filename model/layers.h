// The layers of the transformer as free functions, each forward beside its backward. A backward receives what its
// forward received (and gave, where that helps), then the gradient of the result, then what it fills. It adds into
// what it fills.
#pragma once
#include <span>

#include "model/product.h"

namespace posbench {

/// y = x w + b.   x (T, C), w (C, O), b (1, O), y (T, O).
void linear(const In& x, const MatrixOperand& w, const In& b, Out y);
/// d_x += d_y w^T,   d_w += x^T d_y,   d_b += the column sums of d_y.
void linear_backward(const In& x, const MatrixOperand& w, const In& d_y, Out d_x, Out d_w, Out d_b);
/// The same where d_x starts here: d_x = d_y w^T.
void first_linear_backward(const In& x, const MatrixOperand& w, const In& d_y, Out d_x, Out d_w, Out d_b);

/// Layer normalization (Ba et al. 2016, arXiv:1607.06450): every row shifted and scaled to mean 0 and variance 1,
/// then times gain (1, C) plus bias (1, C). Keeps the normalized rows and 1 / standard deviation (T, 1) for the
/// backward.
void normalize_rows(const In& x, const In& gain, const In& bias, Out normalized, Out inverse_deviation, Out y);
void normalize_rows_backward(const In& gain, const In& normalized, const In& inverse_deviation, const In& d_y,
                             Out d_x, Out d_gain, Out d_bias);

/// y = GELU(x) in its tanh form (Hendrycks and Gimpel 2016, arXiv:1606.08415), x / 2 (1 + tanh(u)) = x sigmoid(2
/// u) with u = sqrt(2 / pi) (x + 0.044715 x^3). x becomes the slope dy / dx, which is all that the backward needs:
/// d_x = slope d_y.
void gelu(Out x, Out y);
void relu(Out x, Out y);

/// Row t of y is row tokens[t] of the table.
void embed(std::span<const int> tokens, const In& table, Out y);
void embed_backward(std::span<const int> tokens, const In& d_y, Out d_table);

/// The sum over rows of the cross-entropy between softmax(logits) and targets, times `weight`. logits (N, V).
/// d_logits is overwritten.
double cross_entropy(const In& logits, std::span<const int> targets, double weight, Out d_logits);

}  // namespace posbench
