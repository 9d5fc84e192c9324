// ALiBi's penalty times gates of queries and keys: the common code of GRAPE's gated forms.
#pragma once
#include <string>
#include <vector>

#include "encodings/registry.h"

namespace posbench::inline POSBENCH_REAL {

enum class GatedBy { key, query, query_and_key };

/// score_h(i, j) = q_i . k_j / sqrt(D) - (i - j) m_h softplus(o_h) (g_h(i) + g'_h(j))
///   g_h(i)  = softplus(v_h . q_i / sqrt(D)) if queries have a gate, else 0
///   g'_h(j) = softplus(u_h . k_j / sqrt(D)) if keys have a gate, else 0
class GrapeGates : public PositionEncoding {
 public:
  using Options = NoOptions;
  /// Adds NAME.LAYER.strength (1, H), .key_gate (H, D) and .query_gate (H, D).
  GrapeGates(const std::string& name, GatedBy, const ModelConfig&, ParameterLayout&);

  void tables(const Parameters&, const Positions&, Tables&) const final;
  void score(const AttentionInput&, Heads& scores) const final;
  void score_backward(const AttentionInput&, const Heads& d_scores, AttentionGradient&) const final;

 private:
  struct Constants {
    Matrix distances;  // (T, T): i - j
  };

  Real slope(const AttentionInput&, Index h) const;
  /// The gates of one side. They are zero if the side has no parameters.
  struct Side {
    const std::vector<Parameter>& directions;  // u or v (H, D), one for each layer, or none
    const Matrix& y;                           // (T, D): k or q of a head
    Matrix& logits;                            // (T, 1)
    Matrix& gates;                             // (1, T)
  };
  void compute_gates(const AttentionInput&, Index h, const Side&) const;
  /// Overwrites the logits.
  void gates_backward(const AttentionInput&, Index h, const Side&, const Matrix& d_gates, AttentionGradient&,
                      Matrix& d_y) const;

  std::vector<double> slopes_;                                  // (H)
  std::vector<Parameter> strengths_, key_gates_, query_gates_;  // (1, H), (H, D), (H, D), one for each layer
};

/// Adds to a form's name, equation and content_dependent the source, notes and properties that all forms share.
EncodingInfo grape_gates_info(EncodingInfo);

}  // namespace posbench::inline POSBENCH_REAL
