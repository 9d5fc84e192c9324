// Rotates pairs of components by angles that accumulate over the tokens and depend on them, as Mamba-3 does
// (arXiv:2603.15569; state-spaces/mamba). Rotated queries and keys are equivalent to a state that a step rotates.
#pragma once
#include "model/position_encoding.h"

namespace posbench::inline POSBENCH_REAL {

/// The angles of a layer with H heads and N pairs of components, for T tokens.
struct AccumulatedAngles {
  Matrix& turn;           // (T, N): between -1 and 1, shared by the heads
  const Matrix& step;     // (T, H)
  Matrix &cosine, &sine;  // (T, H N)
};

/// angle_t = angle_{t-1} + pi step_t turn_t. Computes cosine and sine from step and turn.
void accumulate_angles(const AccumulatedAngles&);
/// d_turn = ...,   d_step = ..., for the gradient of the angles, which it overwrites.
void accumulate_angles_backward(const AccumulatedAngles&, Matrix& d_angle, Matrix& d_turn, Matrix& d_step);

/// Rotates the pairs (2n, 2n + 1) of every head of q and k in place. qkv has the heads of q, of k and of v, which
/// have `width` components each.
void rotate_queries_and_keys(const AccumulatedAngles&, Index width, Matrix& qkv);
/// d_qkv, of the rotated ones, becomes the gradient of the unrotated ones. d_angle (T, H N) is that of the angles.
void rotate_queries_and_keys_backward(const AccumulatedAngles&, Index width, const Matrix& rotated, Matrix& d_qkv,
                                      Matrix& d_angle);

}  // namespace posbench::inline POSBENCH_REAL
