// TAPE's map over heads: each token mixes the heads of a state by a matrix that the feed-forward output decides.
#pragma once
#include <string>

#include "model/position_encoding.h"

namespace posbench::inline POSBENCH_REAL {

/// M_t = W_down diag(SiLU(f_t W_x)) W_up, (H, H) for each token, in one layer. E: the inner width.
class HeadMap {
 public:
  /// Adds NAME.up (E, H), zero, NAME.gate (C, E) and NAME.down (H, E), N(0, 0.02).
  HeadMap(const std::string& name, Index hidden, const ModelConfig&, ParameterLayout&);

  /// Matrices in scratch.
  struct Maps {
    Matrix& gate_logits;  // (T, E): f W_x
    Matrix& products;     // (E, H H): row e is W_down(., e) W_up(e, .)
    Matrix& by_token;     // (T, H H): M_t
  };
  Maps maps(const AttentionInput&, const Matrix& feed_forward) const;
  /// Overwrites maps.gate_logits.
  void maps_backward(const AttentionInput&, const Matrix& feed_forward, const Maps&, const Matrix& d_by_token,
                     Matrix& d_feed_forward, Gradients&) const;

  /// next_t = state_t + M_t state_t, where row t of a state is (H, channels).
  void apply(const Maps&, Matrix& state, Matrix& next) const;
  /// d_state = d_next + M_t^T d_next,   d_by_token += d_next state^T
  void apply_backward(const Maps&, Matrix& state, Matrix& d_next, Matrix& d_state, Matrix& d_by_token) const;

 private:
  /// Row t of a state as (H, channels), and row t of the maps as (H, H).
  MatrixView by_head(Matrix& state, Index t) const { return {state.row(t).data(), heads_, state.cols() / heads_}; }
  MatrixView head_map(Matrix& maps, Index t) const { return {maps.row(t).data(), heads_, heads_}; }

  Index heads_;
  Parameter up_, gate_, down_;
};

}  // namespace posbench::inline POSBENCH_REAL
