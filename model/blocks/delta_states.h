// Computes the states of the gated delta rule, one head at a time.
#pragma once
#include "model/position_encoding.h"

namespace posbench::inline POSBENCH_REAL {

/// The inputs and results of the states of a layer with H heads of width D, for T tokens.
struct DeltaStates {
  Index heads = 0, width = 0;
  bool decays_channels = false;    // a decay for each component of a key instead of one for each head
  Matrix& qkv;                     // (T, 3 H D): the heads of q, of k and of v
  const Matrix &decay, &strength;  // (T, H) or (T, H D); (T, H)
  Matrix& states;                  // (T H D, D): the transpose of S after each token, of each head
  Matrix &retrieved, &output;      // (T, H D): what k_t reads of the state before its token, and o_t
};

/// The gradients of inputs and results.
struct DeltaGradient {
  Matrix &output, &qkv, &decay, &strength;
};

/// Returns a view with a row of D entries for each head of each token.
MatrixView by_head(Matrix& m, Index head_width);

/// S_t = S_{t-1} A_t (I - b_t k_t k_t^T) + b_t v_t k_t^T,   o_t = S_t q_t / sqrt(D),   S_0 = 0, for the head h.
/// A_t is the decay: a number, or the diagonal matrix with those of the components.
void compute_states(const DeltaStates&, Index h, Scratch&);
/// Reads d.output, and writes the others.
void compute_states_backward(const DeltaStates&, Index h, const DeltaGradient& d, Scratch&);

}  // namespace posbench::inline POSBENCH_REAL
