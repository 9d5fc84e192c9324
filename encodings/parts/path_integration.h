// Positions that are sums of steps, one step for each token: the common code of the MapFormers.
#pragma once
#include <string>

#include "base/options.h"
#include "model/position_encoding.h"

namespace posbench::inline POSBENCH_REAL {

/// angle_h(t) = omega_h * S_h(t), pair by pair,   S(t) = sum over s <= t of W_out W_in e_s
///
/// e are the token embeddings before anything is added, omega (H, D / 2) is learned, and S (T, H D / 2) is the
/// recurrent state.
class PathIntegration {
 public:
  struct Options {
    int rank = 2;
    double range = 64;
    void describe(OptionTable&);
  };
  /// omega starts geometric, from 2 pi down to 2 pi / range.
  PathIntegration(const std::string& name, const Options&, const ModelConfig&, ParameterLayout&);

  /// Initializes the recurrent state, as PositionEncoding::embed does.
  void embed(const Parameters&, const Matrix& x, Matrices& recurrent_state) const;
  void embed_backward(const Parameters&, const Matrix& x, const Matrices& d_recurrent_state, Matrix& d_x,
                      Gradients&) const;

  /// Returns the angles (T, H D / 2), in scratch.
  Matrix& angles(const AttentionInput&) const;
  void angles_backward(const AttentionInput&, const Matrix& d_angles, AttentionGradient&) const;

 private:
  Parameter in_, out_, omega_;  // (C, rank), (rank, H D / 2), (H, D / 2)
};

}  // namespace posbench::inline POSBENCH_REAL
