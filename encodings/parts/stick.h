// Stick breaking: a query visits its keys from the nearest on, at equal distance the right one first. Each key
// takes its fraction of the attention that is left.
#pragma once
#include <algorithm>

#include "model/kernels.h"
#include "model/lanes.h"
#include "model/tensor.h"

namespace posbench::inline POSBENCH_REAL {

/// A row of numbers by key, with kLanes zeros before the first and at least as many after the last.
class PaddedRow {
 public:
  PaddedRow(Matrix& memory, Index max_keys) : memory_(memory), keys_(0) {
    memory.resize(1, max_keys + 3 * kLanes);
  }
  void resize(Index keys) {
    keys_ = keys;
    store(Lanes{}, data() - kLanes);
    store(Lanes{}, data() + keys);
    store(Lanes{}, data() + keys + kLanes);
  }
  Real* data() { return memory_.data() + kLanes; }
  const Real* data() const { return memory_.data() + kLanes; }
  Index keys() const { return keys_; }

  /// Returns kLanes numbers to the right or to the left of `i`, from a distance of `distance` + 1 keys on.
  Lanes right(Index i, Index distance) const {
    return i + 1 + distance < keys_ ? load(data() + i + 1 + distance) : Lanes{};
  }
  Lanes left(Index i, Index distance) const {
    return distance < i ? reversed(load(data() + i - distance - kLanes)) : Lanes{};
  }
  void set_right(Index i, Index distance, Lanes values) {
    if (i + 1 + distance < keys_) store(values, data() + i + 1 + distance);
  }
  void set_left(Index i, Index distance, Lanes values) {
    if (distance < i) store(reversed(values), data() + i - distance - kLanes);
  }

 private:
  Matrix& memory_;
  Index keys_;
};

/// fraction = sigmoid(logits) for `keys` keys.
inline void set_fractions(const Real* logits, Index keys, PaddedRow& fraction) {
  fraction.resize(keys);
  kernels().sigmoid(logits, keys, fraction.data());
}
/// row = scale * values, then zeros up to `length`.
inline void copy_row(const PaddedRow& values, Real scale, Index length, Real* row) {
  for_each_lanes(values.keys(), [&](Index j, Index) {
    store(scale * load(values.data() + j), row + j, std::min(kLanes, length - j));
  });
  std::fill(row + values.keys(), row + length, Real(0));
}

/// weight[j] = fraction[j] times the product of (1 - fraction) over the keys that query i visits before j. The
/// query does not visit itself; i may be the number of keys.
inline void break_stick(const PaddedRow& fraction, Index i, PaddedRow& weight) {
  const Index furthest = std::max(i, fraction.keys() - 1 - i);
  Real left = 1;
  for (Index distance = 0; distance < furthest; distance += kLanes) {
    const Lanes right = fraction.right(i, distance), back = fraction.left(i, distance);
    const Lanes products = left * prefix_products((1 - right) * (1 - back));
    const Lanes before = moved_up<1>(products, Lanes{} + left);
    weight.set_right(i, distance, before * right);
    weight.set_left(i, distance, before * (1 - right) * back);
    left = products[kLanes - 1];
  }
  if (i < fraction.keys()) weight.data()[i] = 0;
}

/// d_logit[j] = gain[j] (1 - fraction[j]) - fraction[j] times the sum of gain over the keys visited after j,
/// gain = d_weight weight,   fraction = sigmoid(logit)
inline void break_stick_backward(const PaddedRow& fraction, const PaddedRow& gain, Index i, PaddedRow& d_logit) {
  const Index furthest = std::max(i, fraction.keys() - 1 - i);
  Real later = 0;
  for (Index distance = (furthest - 1) / kLanes * kLanes; distance >= 0; distance -= kLanes) {
    const Lanes right = fraction.right(i, distance), back = fraction.left(i, distance);
    const Lanes gain_right = gain.right(i, distance), gain_back = gain.left(i, distance);
    const Lanes sums = later + suffix_sums(gain_right + gain_back);
    const Lanes after = moved_down<1>(sums, Lanes{} + later);
    d_logit.set_right(i, distance, gain_right * (1 - right) - right * (after + gain_back));
    d_logit.set_left(i, distance, gain_back * (1 - back) - back * after);
    later = sums[0];
  }
  if (i < fraction.keys()) d_logit.data()[i] = 0;
}

}  // namespace posbench::inline POSBENCH_REAL
