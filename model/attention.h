// Computes the products and the softmax of attention for one head. q, k, v and output are (T, D); scores and
// attention are (T, T), row = query, column = key. If causal, entries with key > query are undefined, but products
// read those near the diagonal, so that these must be zero: `zero_future_keys` and `softmax_backward` set them.
#pragma once
#include "model/tensor.h"

namespace posbench {

/// Returns the number of keys that query i sees.
inline Index num_visible_keys(Index i, Index length, bool causal) { return causal ? i + 1 : length; }

/// scores = scale q k^T
void dot_product(const In& q, const In& k, Real scale, bool causal, Out scores);
/// d_q += scale d_scores k,   d_k += scale d_scores^T q
void dot_product_backward(const In& q, const In& k, Real scale, bool causal, const In& d_scores, Out d_q, Out d_k);

/// Sets the entries of later keys that products read to zero, if causal.
void zero_future_keys(bool causal, Out attention);

/// attention = the softmax of every row over its visible keys; later keys that products read get zero.
void softmax(const In& scores, bool causal, Out attention);
/// d_scores = attention (d_attention - the row's sum of attention d_attention); zero for later keys.
void softmax_backward(const In& attention, bool causal, const In& d_attention, Out d_scores);

/// output = attention v
void weighted_sum(const In& attention, const In& v, bool causal, Out output);
/// d_attention = d_output v^T,   d_v += attention^T d_output
void weighted_sum_backward(const In& attention, const In& v, bool causal, const In& d_output, Out d_attention,
                           Out d_v);

}  // namespace posbench
