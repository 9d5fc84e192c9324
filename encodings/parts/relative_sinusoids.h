// Provides the base class of encodings with projected sinusoids of the distance, Transformer-XL and its
// descendants.
#pragma once
#include <string>
#include <vector>

#include "model/position_encoding.h"

namespace posbench::inline POSBENCH_REAL {

/// The argument of the sinusoids for query i and key j: j - i, i - j or |i - j|.
enum class SinusoidArgument { key_minus_query, query_minus_key, absolute };

/// The conventions in which these encodings differ.
struct SinusoidConventions {
  std::string name;     // prefix of the parameters
  bool untied = false;  // u and w for each layer; false: one pair for all layers
  SinusoidArgument argument = SinusoidArgument::query_minus_key;
  bool interleaved = false;    // sine next to cosine; false: all sines first
  int clamp = 0;               // arguments are clipped to +-clamp; 0: never
  bool xavier = false;         // u, w start at zero and W Xavier-uniform; false: all start at N(0, 0.02)
  bool learned_scale = false;  // s is a learned scalar for each layer, initially 1 / sqrt(D)
};

/// score_h(i, j) = s ((q_i + u_h) . k_j + (q_i + w_h) . (W S(n))_h),   n = i - j,   s = 1 / sqrt(D)
/// u, w (H, D), W (C, C) for each layer; S(n) (C) sines and cosines of n 10000^(-2 m / C).
class RelativeSinusoids : public PositionEncoding {
 public:
  /// Throws InputError if the width is odd.
  RelativeSinusoids(SinusoidConventions, const ModelConfig&, ParameterLayout&);

  /// The values are W S (N, C) for each layer.
  void tables(const Parameters&, const Positions&, Tables&) const final;
  void tables_backward(const Parameters&, const Positions&, const Tables&, const Matrices& d_projected,
                       Gradients&) const final;
  void score(const AttentionInput&, Heads& scores) const override;
  void score_backward(const AttentionInput&, const Heads& d_scores, AttentionGradient&) const override;
  void content(const AttentionInput&, Heads& content) const final;

 protected:
  /// Returns q_i + bias of head h for all i, (T, D), in scratch.
  Matrix& shifted(const AttentionInput&, const std::vector<Parameter>& bias, size_t h) const;

 private:
  Real score_scale(const AttentionInput&) const;

  SinusoidConventions conventions_;
  std::vector<Parameter> content_, position_;  // u, w (H, D), one, or one for each layer
  std::vector<Parameter> projection_;  // W (C, C), one for each layer; column h D + e is component e of head h
  std::vector<Parameter> scales_;      // s (1, 1), one for each layer if learned
};

}  // namespace posbench::inline POSBENCH_REAL
