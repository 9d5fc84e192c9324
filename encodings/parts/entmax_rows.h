// Alpha-entmax, between the softmax (alpha = 1) and the sparsemax (alpha = 2). Keys far below the best get
// exactly 0.
#pragma once
#include "model/tensor.h"

namespace posbench::inline POSBENCH_REAL {

/// attention(i, j) = max((alpha - 1) z(i, j) - tau_i, 0)^(1 / (alpha - 1)), tau_i such that the row's visible keys
/// sum to 1. z = scores (T, T), 1 < alpha <= 2. Later keys get zero. Peters et al. 2019, arXiv:1905.05702.
void entmax_rows(const In& scores, Real alpha, bool causal, Out attention);
/// d_scores = s (d_attention - the row's mean of d_attention weighted by s),   s = attention^(2 - alpha), over
/// the keys with nonzero attention; zero elsewhere.
void entmax_rows_backward(const In& attention, Real alpha, bool causal, const In& d_attention, Out d_scores);

/// The same functions for all heads.
void entmax_rows(const Heads& scores, Real alpha, bool causal, Heads& attention);
void entmax_rows_backward(const Heads& attention, Real alpha, bool causal, const Heads& d_attention,
                          Heads& d_scores);

}  // namespace posbench::inline POSBENCH_REAL
