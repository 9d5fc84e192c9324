// PaTH: positions as an accumulated product of Householder-like maps along the path from key to query.
#pragma once
#include <string>

#include "model/position_encoding.h"

namespace posbench {

/// score_h(i, j) = k_j . R_(j+1) R_(j+2) ... R_i q_i / sqrt(D),   R_t = I - beta_t w_t w_t^T
///
/// w_t: x_t through two linear maps C -> rank -> H D; where convolved, over the three last tokens, channel by
/// channel, and through SiLU; then each head's D channels divided by their norm. beta_t = 2 sigmoid(x_t . b_h +
/// c_h).
class Reflections {
 public:
  /// Adds NAME.LAYER.down (C, rank), .up (rank, H D), .convolution (3, H D), .strength.weight (C, H) and
  /// .strength.bias (1, H).
  Reflections(const std::string& name, Index rank, bool convolved, const ModelShape&, ParameterLayout&);

  void score(const AttentionInput&, Heads& scores) const;
  void score_backward(const AttentionInput&, const Heads& d_scores, AttentionGradient&) const;

 private:
  struct Directions;
  Index channels() const { return shape_.heads * shape_.head_width(); }  // H D: C, unless other heads are another encoding's
  void directions_backward(const AttentionInput&, const Directions&, const Matrix& d_unit,
                           const Matrix& d_strength, AttentionGradient&) const;

  ModelShape shape_;
  bool convolved_;
  std::vector<Parameter> down_, up_, convolution_, strength_weights_, strength_biases_;  // one for each layer
};

}  // namespace posbench
