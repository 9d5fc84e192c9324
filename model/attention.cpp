#include "model/attention.h"

#include "model/lanes.h"
#include "model/product.h"

namespace posbench {
namespace {

Part wanted(bool causal) { return causal ? Part::up_to_diagonal : Part::whole; }
Factor seen(const In& pairs, bool causal) { return causal ? lower(pairs) : Factor(pairs); }

}  // namespace

void dot_product(const In& q, const In& k, Real scale, bool causal, Out scores) {
  multiply(q, k.transpose(), scores, scale, wanted(causal));
}

void dot_product_backward(const In& q, const In& k, Real scale, bool causal, const In& d_scores, Out d_q,
                          Out d_k) {
  multiply_add(seen(d_scores, causal), k, d_q, scale);
  multiply_add(seen(d_scores, causal).transpose(), q, d_k, scale);
}

void hide_later(bool causal, Out attention) {
  if (!causal) return;
  const Index length = attention.rows();
  for (Index i = 0; i < length; ++i) attention.row(i).segment(i + 1, std::min(kBand, length - i - 1)).setZero();
}

void softmax(const In& scores, bool causal, Out attention) {
  const Index length = scores.rows();
  for (Index i = 0; i < length; ++i) {
    const Index keys = visible(i, length, causal);
    const Real* row = scores.row(i).data();
    const Real highest = scores.row(i).head(keys).maxCoeff();
    Real* weights = attention.row(i).data();
    Lanes total{};
    for_each_lanes(keys, [&](Index j, Index count) {
      const Lanes weight = exponential(load(row + j, count, -INFINITY) - highest);
      total += weight;
      store(weight, weights + j, count);
    });
    attention.row(i).head(keys) *= 1 / sum(total);
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
  multiply(seen(attention, causal), v, output);
}

void weighted_sum_backward(const In& attention, const In& v, bool causal, const In& d_output, Out d_attention,
                           Out d_v) {
  multiply_add(d_output, v.transpose(), d_attention, 1, wanted(causal));
  multiply_add(seen(attention, causal).transpose(), d_output, d_v);
}

}  // namespace posbench
