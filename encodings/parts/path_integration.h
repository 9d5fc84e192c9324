// Positions as sums of steps, one for each token: the common code of the MapFormers.
#pragma once
#include <string>

#include "model/position_encoding.h"

namespace posbench {

/// angle_h(t) = omega_h * S_h(t), pair by pair, with S(t) the sum of W_out W_in e_s over s <= t: e are the token
/// embeddings before anything is added, omega (H, D / 2) is learned, and S (T, H D / 2) is the recurrent
/// state.
class PathIntegration {
 public:
  /// omega starts geometric, from 2 pi down to 2 pi / range.
  PathIntegration(const std::string& name, Index rank, double range, const ModelShape&, ParameterLayout&);

  /// Stage 2: starts the recurrent state.
  void embed(const Parameters&, const Matrix& x, Matrices& recurrent_state) const;
  void embed_backward(const Parameters&, const Matrix& x, const Matrices& d_recurrent_state, Matrix& d_x,
                      Gradients&) const;

  /// The angles (T, H D / 2), in scratch.
  Matrix& angles(const AttentionInput&) const;
  void angles_backward(const AttentionInput&, const Matrix& d_angles, AttentionGradient&) const;

 private:
  Parameter in_, out_, omega_;  // (C, rank), (rank, H D / 2), (H, D / 2)
};

}  // namespace posbench
