// Computes the products and the softmax of attention for one head. q, k, v and output are (T, D). Scores and
// attention are (T, T), row = query, column = key. If causal, the entries of future keys (key > query) are
// undefined. Products may read the first kBand of them in each row (model/kernels.h), and these must be zero:
// `softmax`, `softmax_backward` and `zero_future_keys` set them.
#pragma once
#include "model/kernels.h"
#include "model/tensor.h"

namespace posbench::inline POSBENCH_REAL {

/// scores = scale q k^T
void dot_product(const In& q, const In& k, Real scale, bool causal, Out scores);
/// d_q += scale d_scores k,   d_k += scale d_scores^T q
void dot_product_backward(const In& q, const In& k, Real scale, bool causal, const In& d_scores, Out d_q, Out d_k);

/// If causal, sets the entries of future keys that products read to zero: the next kBand right of the diagonal.
void zero_future_keys(bool causal, Out attention);

/// attention = the softmax of each row over its visible keys. The entries of future keys that products read become
/// zero.
void softmax(const In& scores, bool causal, Out attention);
/// d_s_ij = a_ij (d_a_ij - sum_m a_im d_a_im), where s are the scores and a is the attention. d_s_ij of a future
/// key becomes zero.
void softmax_backward(const In& attention, bool causal, const In& d_attention, Out d_scores);

/// output = attention v
void weighted_sum(const In& attention, const In& v, bool causal, Out output);
/// d_attention = d_output v^T,   d_v += attention^T d_output
void weighted_sum_backward(const In& attention, const In& v, bool causal, const In& d_output, Out d_attention,
                           Out d_v);

}  // namespace posbench::inline POSBENCH_REAL
