#include "model/attention.h"

#include "model/lanes.h"
#include "model/product.h"

namespace posbench {
namespace {

Part wanted(bool causal) { return causal ? Part::up_to_diagonal : Part::whole; }
Factor seen(const In& pairs, bool causal) { return causal ? lower(pairs) : Factor(pairs); }

/// Row entries j, ..., j + count - 1 of `length`, `rest` in the other lanes.
Lanes load_in_row(const Real* row, Index length, Index j, Index count, Real rest) {
  return j + kLanes <= length ? keep(load(row + j), count, rest) : load(row + j, count, rest);
}

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
  for (Index i = 0; i < length; ++i) {
    Real* later = attention.row(i).data() + i + 1;
    for_each_lanes(std::min(kBand, length - i - 1),
                   [&](Index j, Index count) { store(Lanes{}, later + j, count); });
  }
}

void softmax(const In& scores, bool causal, Out attention) {
  const Index length = scores.rows();
  for (Index i = 0; i < length; ++i) {
    const Index keys = visible(i, length, causal);
    const Real* row = scores.row(i).data();
    Real* weights = attention.row(i).data();
    Lanes highest = Lanes{} - INFINITY, total{};
    for_each_lanes(keys, [&](Index j, Index count) {
      highest = larger(load_in_row(row, length, j, count, -INFINITY), highest);
    });
    const Real top = largest(highest);
    for_each_lanes(keys, [&](Index j, Index count) {
      const Lanes weight = exponential(load_in_row(row, length, j, count, -INFINITY) - top);
      total += weight;
      store(weight, weights + j, count);
    });
    const Real inverse = 1 / sum(total);
    for_each_lanes(keys, [&](Index j, Index count) {
      store(load_in_row(weights, length, j, count, 0) * inverse, weights + j, count);
    });
  }
  hide_later(causal, attention);
}

void softmax_backward(const In& attention, bool causal, const In& d_attention, Out d_scores) {
  const Index length = attention.rows();
  for (Index i = 0; i < length; ++i) {
    const Index keys = visible(i, length, causal);
    const Real *weights = attention.row(i).data(), *d = d_attention.row(i).data();
    Real* d_row = d_scores.row(i).data();
    Lanes along{};
    for_each_lanes(keys, [&](Index j, Index count) {
      along += load_in_row(weights, length, j, count, 0) * load_in_row(d, length, j, count, 0);
    });
    const Real mean = sum(along);
    for_each_lanes(keys, [&](Index j, Index count) {
      store(load_in_row(weights, length, j, count, 0) * (load_in_row(d, length, j, count, 0) - mean), d_row + j,
            count);
    });
    std::fill(d_row + keys, d_row + length, Real(0));
  }
}

void weighted_sum(const In& attention, const In& v, bool causal, Out output) {
  multiply(seen(attention, causal), v, output);
}

void weighted_sum_backward(const In& attention, const In& v, bool causal, const In& d_output, Out d_attention,
                           Out d_v) {
  multiply(d_output, v.transpose(), d_attention, 1, wanted(causal));
  multiply_add(seen(attention, causal).transpose(), d_output, d_v);
}

}  // namespace posbench
