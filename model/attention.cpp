#include "model/attention.h"

namespace posbench {
namespace {

constexpr Index kBlock = 64;  // queries taken together; where causal, all later keys are skipped

/// f(first query, queries, keys) for each block of queries that shares its visible keys.
template <class F>
void for_each_block(Index length, bool causal, F f) {
  if (!causal) return f(Index{0}, length, length);
  for (Index first = 0; first < length; first += kBlock) {
    const Index count = std::min(kBlock, length - first);
    f(first, count, first + count);
  }
}

}  // namespace

void dot_product(const In& q, const In& k, Real scale, bool causal, Out scores) {
  for_each_block(q.rows(), causal, [&](Index first, Index count, Index keys) {
    scores.block(first, 0, count, keys).noalias() =
        scale * (q.middleRows(first, count) * k.topRows(keys).transpose());
  });
}

void dot_product_backward(const In& q, const In& k, Real scale, bool causal, const In& d_scores, Out d_q,
                          Out d_k) {
  for_each_block(q.rows(), causal, [&](Index first, Index count, Index keys) {
    const auto d = d_scores.block(first, 0, count, keys);
    d_q.middleRows(first, count).noalias() += scale * (d * k.topRows(keys));
    d_k.topRows(keys).noalias() += scale * (d.transpose() * q.middleRows(first, count));
  });
}

void hide_later(bool causal, Out attention) {
  if (!causal) return;
  const Index length = attention.rows();
  for (Index i = 0; i < length; ++i) {
    const Index block_end = std::min((i / kBlock + 1) * kBlock, length);
    attention.row(i).segment(i + 1, block_end - i - 1).setZero();
  }
}

void softmax(const In& scores, bool causal, Out attention) {
  const Index length = scores.rows();
  for (Index i = 0; i < length; ++i) {
    const Index keys = visible(i, length, causal);
    const auto row = scores.row(i).head(keys).array();
    auto weights = attention.row(i).head(keys).array();
    weights = (row - row.maxCoeff()).exp();
    weights *= 1 / weights.sum();
  }
  hide_later(causal, attention);
}

void softmax_backward(const In& attention, bool causal, const In& d_attention, Out d_scores) {
  const Index length = attention.rows();
  for (Index i = 0; i < length; ++i) {
    const Index keys = visible(i, length, causal);
    const auto weights = attention.row(i).head(keys).array();
    const auto d = d_attention.row(i).head(keys).array();
    d_scores.row(i).head(keys).array() += weights * (d - (weights * d).sum());
  }
}

void weighted_sum(const In& attention, const In& v, bool causal, Out output) {
  for_each_block(v.rows(), causal, [&](Index first, Index count, Index keys) {
    output.middleRows(first, count).noalias() = attention.block(first, 0, count, keys) * v.topRows(keys);
  });
}

void weighted_sum_backward(const In& attention, const In& v, bool causal, const In& d_output, Out d_attention,
                           Out d_v) {
  for_each_block(v.rows(), causal, [&](Index first, Index count, Index keys) {
    const auto d = d_output.middleRows(first, count);
    d_attention.block(first, 0, count, keys).noalias() += d * v.topRows(keys).transpose();
    d_v.topRows(keys).noalias() += attention.block(first, 0, count, keys).transpose() * d;
  });
}

}  // namespace posbench
