// The three products of attention for one head, each beside its backward. q, k, v and output (T, D); scores and
// attention (T, T), row = query, column = key. Where causal, entries with key > query mean nothing, but the
// products read those near the diagonal: what they read there must be zero, which `hide_later` sees to after a
// normalization, and `softmax_backward` in a gradient.
#pragma once
#include "model/tensor.h"

namespace posbench {

/// How many keys query i sees.
inline Index visible(Index i, Index length, bool causal) { return causal ? i + 1 : length; }

/// scores = scale q k^T
void dot_product(const In& q, const In& k, Real scale, bool causal, Out scores);
/// d_q += scale d_scores k,   d_k += scale d_scores^T q
void dot_product_backward(const In& q, const In& k, Real scale, bool causal, const In& d_scores, Out d_q, Out d_k);

/// Where causal, sets to zero what the products read of later keys.
void hide_later(bool causal, Out attention);

/// Every row exponentiated and divided by its sum over the visible keys; later keys are hidden.
void softmax(const In& scores, bool causal, Out attention);
/// d_scores = attention (d_attention - the row's sum of attention d_attention), zero for later keys
void softmax_backward(const In& attention, bool causal, const In& d_attention, Out d_scores);

/// output = attention v
void weighted_sum(const In& attention, const In& v, bool causal, Out output);
/// d_attention = d_output v^T,   d_v += attention^T d_output
void weighted_sum_backward(const In& attention, const In& v, bool causal, const In& d_output, Out d_attention,
                           Out d_v);

}  // namespace posbench
