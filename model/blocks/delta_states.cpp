#include "model/blocks/delta_states.h"

#include <cmath>

#include "model/numeric.h"

namespace posbench::inline POSBENCH_REAL {
namespace {

/// One head of the states.
class HeadStates {
 private:
  Index D() const { return all_.width; }
  Index length() const { return all_.qkv.rows(); }
  /// Returns the row of the head in a matrix of all heads.
  Index row(Index t) const { return t * all_.heads + head_; }
  /// Returns the row, by head, of q (part 0), k (1) or v (2).
  Index part_row(Index t, Index part) const { return (t * 3 + part) * all_.heads + head_; }
  auto part(Index t, Index part) const { return rows_.row(part_row(t, part)); }
  MatrixView state_of(Index t) const { return {all_.states.data() + row(t) * D() * D(), D(), D()}; }
  Real scale() const { return 1 / std::sqrt(static_cast<Real>(D())); }

 public:
  HeadStates(const DeltaStates& all, Index head)
      : all_(all),
        head_(head),
        rows_(by_head(all.qkv, all.width)),
        retrieved_(by_head(all.retrieved, all.width)) {}

  void forward(Scratch& scratch) {
    MatrixView output = by_head(all_.output, D());
    Matrix& e = scratch(1, D());
    for (Index t = 0; t < length(); ++t) {
      auto o = output.row(row(t));
      MatrixView state = state_of(t);
      const auto q = part(t, 0), k = part(t, 1);
      all_.decays_channels ? start_by_channel(t, e) : start(t, e);
      for (Index j = 0; j < D(); ++j) state.row(j) += k(j) * e.row(0);
      o.setZero();
      for (Index j = 0; j < D(); ++j) o += scale() * q(j) * state.row(j);
    }
  }

  void backward(const DeltaGradient& d, Scratch& scratch) {
    const MatrixView d_output = by_head(d.output, D());
    MatrixView d_rows = by_head(d.qkv, D());
    Matrix &rest = scratch(1, D()), &d_e = scratch(1, D()), &d_r = scratch(1, D()), &d_state = scratch(D(), D());
    d_state.setZero();
    for (Index t = length(); t-- > 0;) {
      const auto q = part(t, 0), k = part(t, 1), d_o = d_output.row(row(t));
      const auto r = retrieved_.row(row(t));
      auto d_q = d_rows.row(part_row(t, 0)), d_k = d_rows.row(part_row(t, 1)), d_v = d_rows.row(part_row(t, 2));
      const Real b = all_.strength(t, head_);
      const MatrixView state = state_of(t);
      if (all_.decays_channels) {
        rest.row(0) = part(t, 2) - r;
      } else {
        rest.row(0) = part(t, 2) - all_.decay(t, head_) * r;
      }
      d_e.setZero();
      for (Index j = 0; j < D(); ++j) {
        d_q(j) = scale() * dot(state.row(j), d_o);
        d_state.row(j) += scale() * q(j) * d_o;
        d_k(j) = b * dot(d_state.row(j), rest);
        d_e.row(0) += k(j) * d_state.row(j);
      }
      d.strength(t, head_) = dot(d_e, rest);
      d_v = b * d_e.row(0);
      all_.decays_channels ? start_by_channel_backward(t, d_e, d_r, d_state, d)
                           : start_backward(t, d_e, d_r, d_state, d);
    }
  }

 private:
  /// state = a S_{t-1},   e = b (v - a S_{t-1} k).
  void start(Index t, Matrix& e) {
    const auto k = part(t, 1);
    const Real a = all_.decay(t, head_), b = all_.strength(t, head_);
    MatrixView state = state_of(t);
    auto r = retrieved_.row(row(t));
    r.setZero();
    if (t > 0) {
      const MatrixView before = state_of(t - 1);
      for (Index j = 0; j < D(); ++j) r += k(j) * before.row(j);
      state = a * before;
    } else {
      state.setZero();
    }
    e.row(0) = b * (part(t, 2) - a * r);
  }
  /// d_state, of S_t, becomes the gradient of S_{t-1}.
  void start_backward(Index t, const Matrix& d_e, Matrix& d_r, Matrix& d_state, const DeltaGradient& d) const {
    const auto k = part(t, 1), r = retrieved_.row(row(t));
    const Real a = all_.decay(t, head_), b = all_.strength(t, head_);
    d.decay(t, head_) = 0;
    if (t == 0) return;
    auto d_k = by_head(d.qkv, D()).row(part_row(t, 1));
    const MatrixView before = state_of(t - 1);
    d.decay(t, head_) = dot(d_state, before) - b * dot(d_e, r);
    d_r = -a * b * d_e;
    for (Index j = 0; j < D(); ++j) {
      d_k(j) += dot(d_r, before.row(j));
      d_state.row(j) = a * d_state.row(j) + k(j) * d_r.row(0);
    }
  }

  /// state = S_{t-1} A,   e = b (v - S_{t-1} A k). The retrieved value includes the decay.
  void start_by_channel(Index t, Matrix& e) {
    const auto k = part(t, 1);
    MatrixView state = state_of(t);
    auto r = retrieved_.row(row(t));
    r.setZero();
    state.setZero();
    for (Index j = 0; t > 0 && j < D(); ++j) {
      state.row(j) = all_.decay(t, head_ * D() + j) * state_of(t - 1).row(j);
      r += k(j) * state.row(j);
    }
    e.row(0) = all_.strength(t, head_) * (part(t, 2) - r);
  }
  /// d_state, of S_t, becomes the gradient of S_{t-1}.
  void start_by_channel_backward(Index t, const Matrix& d_e, Matrix& d_r, Matrix& d_state,
                                 const DeltaGradient& d) const {
    const auto k = part(t, 1);
    d.decay.row(t).segment(head_ * D(), D()).setZero();
    if (t == 0) return;
    auto d_k = by_head(d.qkv, D()).row(part_row(t, 1));
    const MatrixView before = state_of(t - 1);
    d_r = -all_.strength(t, head_) * d_e;
    for (Index j = 0; j < D(); ++j) {
      const Real a = all_.decay(t, head_ * D() + j);
      d_k(j) += a * dot(d_r, before.row(j));
      d_state.row(j) += k(j) * d_r.row(0);
      d.decay(t, head_ * D() + j) = dot(d_state.row(j), before.row(j));
      d_state.row(j) *= a;
    }
  }

  const DeltaStates& all_;
  Index head_;
  MatrixView rows_, retrieved_;
};

}  // namespace

MatrixView by_head(Matrix& m, Index head_width) { return {m.data(), m.size() / head_width, head_width}; }

void compute_states(const DeltaStates& states, Index h, Scratch& scratch) {
  HeadStates(states, h).forward(scratch);
}

void compute_states_backward(const DeltaStates& states, Index h, const DeltaGradient& d, Scratch& scratch) {
  HeadStates(states, h).backward(d, scratch);
}

}  // namespace posbench::inline POSBENCH_REAL
