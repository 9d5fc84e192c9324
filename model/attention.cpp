#include "model/attention.h"

#include "model/lanes.h"
#include "model/product.h"

namespace posbench {
namespace {

Part wanted(bool causal) { return causal ? Part::up_to_diagonal : Part::whole; }
Factor seen(const In& pairs, bool causal) { return causal ? lower(pairs) : Factor(pairs); }

/// How many lanes from entry j on stand in a row: a row's last visible keys are written with what follows them.
template <class Count>
Index room(Index length, Index j, Count count) {
  return count == kLanes ? kLanes : std::min(kLanes, length - j);
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
    Real* row = attention.row(i).data();
    const Index end = std::min(length, i + 1 + kBand);
    for (Index j = (i + 1) / kLanes * kLanes; j < end; j += kLanes) {
      const Index lanes = std::min(kLanes, length - j);
      store(j <= i ? load(row + j, i + 1 - j, 0) : Lanes{}, row + j, lanes);
    }
  }
}

void softmax(const In& scores, bool causal, Out attention) {
  constexpr Index kRows = 8;  // side by side, since each step of a row waits for the one before
  const Index length = scores.rows();
  for (Index first = 0; first < length; first += kRows) {
    const Index end = std::min(first + kRows, length);
    Real top[kRows], inverse[kRows];
    for (Index i = first; i < end; ++i) {
      const Real* row = scores.row(i).data();
      Lanes highest = Lanes{} - INFINITY;
      for_each_lanes(visible(i, length, causal),
                     [&](Index j, Index count) { highest = larger(load(row + j, count, -INFINITY), highest); });
      top[i - first] = largest(highest);
    }
    for (Index i = first; i < end; ++i) {
      const Real *row = scores.row(i).data(), highest = top[i - first];
      Real* weights = attention.row(i).data();
      Lanes total{};
      for_each_lanes(visible(i, length, causal), [&](Index j, Index count) {
        const Lanes weight = exponential(load(row + j, count, -INFINITY) - highest);
        total += weight;
        store(weight, weights + j, room(length, j, count));
      });
      inverse[i - first] = 1 / sum(total);
    }
    for (Index i = first; i < end; ++i) {
      Real *weights = attention.row(i).data(), scale = inverse[i - first];
      for_each_lanes(visible(i, length, causal), [&](Index j, Index count) {
        const Index lanes = room(length, j, count);
        store(load(weights + j, lanes, 0) * scale, weights + j, lanes);
      });
    }
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
    for_each_lanes(keys,
                   [&](Index j, Index count) { along += load(weights + j, count, 0) * load(d + j, count, 0); });
    const Real mean = sum(along);
    for_each_lanes(keys, [&](Index j, Index count) {
      store(load(weights + j, count, 0) * (load(d + j, count, 0) - mean), d_row + j, room(length, j, count));
    });
    for (Index j = (keys + kLanes - 1) / kLanes * kLanes; j < length; j += kLanes)
      store(Lanes{}, d_row + j, std::min(kLanes, length - j));
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
