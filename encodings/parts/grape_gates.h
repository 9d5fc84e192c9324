// ALiBi's penalty times gates that queries and keys decide: the common code of GRAPE's additive forms.
#pragma once
#include <string>

#include "model/position_encoding.h"

namespace posbench {

/// score_h(i, j) = q_i . k_j / sqrt(D) - (i - j) m_h softplus(o_h) (g_h(i) + g'_h(j))
///   g_h(i)  = softplus(v_h . q_i / sqrt(D)), where queries have a gate
///   g'_h(j) = softplus(u_h . k_j / sqrt(D)), where keys have one
/// m_h: ALiBi's slopes; u_h and v_h N(0, D^-0.5), divided by their norms; softplus(o_h) starts at 1.
class GrapeGates : public PositionEncoding {
 public:
  /// Adds NAME.LAYER.strength (1, H), .key_gate (H, D) and .query_gate (H, D).
  GrapeGates(const std::string& name, bool of_keys, bool of_queries, const ModelShape&, ParameterLayout&);

  void tables(const Parameters&, const Positions&, Tables&) const final;
  void score(const AttentionInput&, Heads& scores) const final;
  void score_backward(const AttentionInput&, const Heads& d_scores, AttentionGradient&) const final;

 private:
  struct Constants {
    Matrix distances;  // (T, T): i - j
  };

  Real slope(const AttentionInput&, Index h) const;
  void gate(const AttentionInput&, const std::vector<Parameter>& gates, Index h, const Matrix& y, Matrix& logits,
            Matrix& result) const;
  void gate_backward(const AttentionInput&, const std::vector<Parameter>& gates, Index h, const Matrix& y,
                     Matrix& logits, const Matrix& d_gates, AttentionGradient&, Matrix& d_y) const;

  std::vector<double> slopes_;                                  // (H)
  std::vector<Parameter> strengths_, key_gates_, query_gates_;  // (1, H), (H, D), (H, D), one for each layer
};

}  // namespace posbench
