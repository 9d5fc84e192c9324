// Encodings that add to every score a bias that does not depend on the tokens.
#pragma once
#include "model/attention.h"
#include "model/position_encoding.h"

namespace posbench::inline POSBENCH_REAL {

/// score_h(i, j) = s q_i . k_j + bias_h(i, j),   s = 1 / sqrt(D), except in TUPE
///
/// tables() computes the biases once a step: as values if they are learned, else as constants.
class AdditiveBias : public PositionEncoding {
 public:
  using PositionEncoding::PositionEncoding;

  /// Returns true for layers x H biases, layer by layer; false for H biases that all layers share.
  virtual bool per_layer() const { return false; }
  /// Fills one matrix (T, T) for each bias. In a causal model future keys need no value.
  virtual void bias(const Parameters&, const Positions&, Matrices& bias) const = 0;
  /// Returns true if the bias hides keys (model/hidden.h).
  virtual bool hides_keys() const { return false; }
  /// Default: nothing is learned.
  virtual bool learned() const { return false; }
  virtual void bias_backward(const Parameters&, const Positions&, const Matrices& /*d_bias*/, Gradients&) const {}

  /// Returns the bias of head h of a layer.
  const Matrix& bias_of(const Tables& tables, int layer, size_t h) const {
    return (learned() ? tables.values : tables.constants<Matrices>())[index(layer, h)];
  }
  /// Returns the gradient of that bias, if biases are learned.
  Matrix& d_bias_of(Matrices& d_tables, int layer, size_t h) const { return d_tables[index(layer, h)]; }

  const AdditiveBias* as_additive_bias() const final { return this; }

  void tables(const Parameters&, const Positions&, Tables&) const final;
  void tables_backward(const Parameters&, const Positions&, const Tables&, const Matrices& d_bias,
                       Gradients&) const final;
  void score(const AttentionInput&, Heads& scores) const final;
  void score_backward(const AttentionInput&, const Heads& d_scores, AttentionGradient&) const final;
  void content(const AttentionInput&, Heads& content) const final;

 protected:
  virtual Real content_scale() const { return scale(); }  // s

  /// Calls f(i, j) for every query i and every key j that it sees.
  template <class F>
  void for_each_pair(Index length, F f) const {
    for (Index i = 0; i < length; ++i) {
      for (Index j = 0, keys = num_visible_keys(i, length, config_.causal); j < keys; ++j) f(i, j);
    }
  }

 private:
  size_t index(int layer, size_t h) const {
    return (per_layer() ? static_cast<size_t>(layer) * static_cast<size_t>(config_.heads) : 0) + h;
  }
};

}  // namespace posbench::inline POSBENCH_REAL
