// The product of Householder-like reflections along the path from key to query: the common code of PaTH and
// PaTH-FoX.
#pragma once
#include <string>
#include <vector>

#include "base/options.h"
#include "model/position_encoding.h"

namespace posbench::inline POSBENCH_REAL {

/// score_h(i, j) = k_j . R_(j+1) R_(j+2) ... R_i q_i / sqrt(D),   R_t = I - beta_t w_t w_t^T
///
/// w_t is x_t after two linear maps C -> rank -> H D, optionally a convolution over the last three tokens and
/// SiLU, and the division of each head's D channels by their norm. beta_t = 2 sigmoid(x_t . b_h + c_h).
class Reflections {
 public:
  struct Options {
    int rank = 32;
    bool convolution = true;
    void describe(OptionTable&);
  };
  /// Adds NAME.LAYER.down (C, rank), .up (rank, H D), .convolution (3, H D), .strength.weight (C, H) and
  /// .strength.bias (1, H).
  Reflections(const std::string& name, const Options&, const ModelConfig&, ParameterLayout&);

  void score(const AttentionInput&, Heads& scores) const;
  void score_backward(const AttentionInput&, const Heads& d_scores, AttentionGradient&) const;

 private:
  struct Directions;
  struct Walk;
  /// Returns H D, which is C unless other heads have another encoding.
  Index channels() const { return config_.heads * config_.head_width(); }
  void directions_backward(const AttentionInput&, const Directions&, const Matrix& d_unit,
                           const Matrix& d_strength, AttentionGradient&) const;

  ModelConfig config_;
  bool convolved_;
  std::vector<Parameter> down_, up_, convolution_, strength_weights_, strength_biases_;  // one for each layer
};

}  // namespace posbench::inline POSBENCH_REAL
