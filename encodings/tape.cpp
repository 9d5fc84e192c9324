// TAPE, contextualized equivariant position encoding: the rotations of each token and head are a recurrent state,
// which starts as RoPE's and which every block updates, by its attention and by the output of its feed-forward
// layer.
//
//   score_h(i, j) = y(q_i) . y(k_j) / sqrt(D),   y(x) = x * C + rot(x) * S,   rot((a, b)) = (-b, a) by halves
//
//   C_h <- cos(p w_n),   S_h <- sin(p w_n)                           at the start, for both halves
//   C_h <- C_h + rho_h A_h C_h,   S likewise                         after attention A
//   C   <- C + W_down (SiLU(W_x f) * (W_up C)),   S likewise         after the feed-forward layer's output f
//
// Zhu et al. 2025, arXiv:2501.00712; VITA-Group/TAPE. As released: no renormalization, so that rotations scale;
// rho_h is all that is left of a map over heads, whose weights that code sums (H weights to one there, one here);
// inner width 4 H, 48 for 12 heads; W_up and rho start at zero, so that the model starts as RoPE, W_x and W_down
// at N(0, 0.02). Both halves of C and of S stay equal, so one is stored. That code also draws a random offset of
// all positions in training: all maps commute with a common rotation, so nothing depends on it, and it is left
// out.
#include <cmath>

#include "encodings/parts/decorator.h"
#include "encodings/registry.h"
#include "encodings/parts/rotary.h"
#include "model/attention.h"
#include "model/numeric.h"
#include "model/product.h"

namespace posbench {
namespace {

/// The columns of head h out of H, in a matrix with the heads side by side.
template <class M>
auto head(M& m, size_t h, int heads) {
  return m.middleCols(static_cast<Index>(h) * m.cols() / heads, m.cols() / heads);
}

enum { kC, kS, kStates };  // the recurrent state

class Tape final : public Decorator {  // of RoPE, for its cosines and sines
 public:
  struct Options {
    double base = 10000;
    int hidden = 0;
    void describe(OptionTable& o) {
      o.number("base", base, 1.001, 1e9, "of RoPE, at the start");
      o.integer("hidden", hidden, 0, 4096, "inner width of the map over heads; 0: four times the heads");
    }
  };

  Tape(const Options& options, const ModelShape& shape, ParameterLayout& layout)
      : Decorator(shape, make_encoding({"rope", {{"base", fmt::format("{}", options.base)}}}, shape, layout)) {
    const Index hidden = options.hidden > 0 ? options.hidden : 4 * shape.heads;
    const int carrying = shape.loops > 1 ? shape.layers : shape.layers - 1;  // nothing reads the state after the last block
    for (int layer = 0; layer < carrying; ++layer) {
      const std::string name = fmt::format("tape.{}.", layer);
      mixes_.push_back(layout.constant(name + "attention", 1, shape.heads, 0));
      ups_.push_back(layout.constant(name + "up", hidden, shape.heads, 0));
      gates_.push_back(layout.normal(name + "gate", shape.width, hidden, 0.02));
      downs_.push_back(layout.normal(name + "down", shape.heads, hidden, 0.02));
    }
  }

  int recurrent_states() const override { return kStates; }
  void embed(const Sequence&, const Parameters&, const Tables& tables, Matrix& x,
             Matrices& recurrent_state) const override {
    const Rotations& rotations = tables.constants<Rotations>();
    recurrent_state.resize(kStates);  // (T, H D / 2) each, head beside head
    for (Matrix& state : recurrent_state) state.resize(x.rows(), shape_.heads * pairs());
    recurrent_state[kC] = rotations.cosine.topRows(x.rows()).replicate(1, shape_.heads);
    recurrent_state[kS] = rotations.sine.topRows(x.rows()).replicate(1, shape_.heads);
  }

  void score(const AttentionInput& in, Heads& scores) const override {
    Matrix &q = in.scratch(in.length(), shape_.head_width()), &k = in.scratch(in.length(), shape_.head_width());
    for (size_t h = 0; h < scores.size(); ++h) {
      rotate(in.q[h], head(in.recurrent_state[kC], h, shape_.heads), head(in.recurrent_state[kS], h, shape_.heads),
             Pairing::half_split, q);
      rotate(in.k[h], head(in.recurrent_state[kC], h, shape_.heads), head(in.recurrent_state[kS], h, shape_.heads),
             Pairing::half_split, k);
      dot_product(q, k, scale(), shape_.causal, scores[h]);
    }
  }
  void score_backward(const AttentionInput& in, const Heads& d_scores, AttentionGradient& d) const override {
    const Index T = in.length(), D = shape_.head_width();
    Matrix &q = in.scratch(T, D), &k = in.scratch(T, D), &d_q = in.scratch(T, D), &d_k = in.scratch(T, D);
    for (size_t h = 0; h < d_scores.size(); ++h) {
      const auto cosine = head(in.recurrent_state[kC], h, shape_.heads),
                 sine = head(in.recurrent_state[kS], h, shape_.heads);
      rotate(in.q[h], cosine, sine, Pairing::half_split, q);
      rotate(in.k[h], cosine, sine, Pairing::half_split, k);
      d_q.setZero();
      d_k.setZero();
      dot_product_backward(q, k, scale(), shape_.causal, d_scores[h], d_q, d_k);
      rotate_backward(d_q, cosine, sine, Pairing::half_split, d.q[h]);
      rotate_backward(d_k, cosine, sine, Pairing::half_split, d.k[h]);
      rotation_backward(in.q[h], d_q, head(d.recurrent_state[kC], h, shape_.heads),
                        head(d.recurrent_state[kS], h, shape_.heads));
      rotation_backward(in.k[h], d_k, head(d.recurrent_state[kC], h, shape_.heads),
                        head(d.recurrent_state[kS], h, shape_.heads));
    }
  }

  void carry(const AttentionInput& in, const Heads& attention, const Matrix& feed_forward,
             Matrices& next) const override {
    if (!carries(in)) return;
    Matrix &pre = in.scratch(in.length(), hidden()), &maps = in.scratch(in.length(), shape_.heads * shape_.heads);
    Matrix& products = in.scratch(hidden(), maps.cols());
    head_maps(in, feed_forward, pre, products, maps);
    for (size_t n = 0; n < kStates; ++n) {
      Matrix &mixed = in.scratch(in.length(), pairs()), &between = in.scratch(in.length(), next[n].cols());
      mix_by_attention(in, attention, in.recurrent_state[n], mixed, between);
      for (Index t = 0; t < in.length(); ++t) {
        by_head(next[n], t) = by_head(between, t);
        multiply_add(map(maps, t), by_head(between, t), by_head(next[n], t));
      }
    }
  }

  void carry_backward(const AttentionInput& in, const Heads& attention, const Matrix& feed_forward,
                      Heads& d_attention, Matrix& d_feed_forward, AttentionGradient& d) const override {
    if (!carries(in)) return;
    const Index T = in.length(), H = shape_.heads, E = hidden();
    const auto up = in.parameters[ups_[in.layer]], down = in.parameters[downs_[in.layer]];
    const auto rho = in.parameters[mixes_[in.layer]];
    Matrix &pre = in.scratch(T, E), &maps = in.scratch(T, H * H), &products = in.scratch(E, H * H);
    Matrix &d_maps = in.scratch(T, H * H), &d_products = in.scratch(E, H * H), &d_pre = in.scratch(T, E);
    Matrix &mixed = in.scratch(T, pairs()), &d_mixed = in.scratch(T, pairs()), &d_weights = in.scratch(T, T);
    head_maps(in, feed_forward, pre, products, maps);
    d_maps.setZero();
    for (size_t n = 0; n < kStates; ++n) {
      Matrix &between = in.scratch(T, d.recurrent_state[n].cols()),
             &d_between = in.scratch(T, d.recurrent_state[n].cols());
      mix_by_attention(in, attention, in.recurrent_state[n], mixed, between);
      d_between = d.recurrent_state[n];
      for (Index t = 0; t < T; ++t) {  // next = between + map between
        multiply_add(by_head(d.recurrent_state[n], t), by_head(between, t).transpose(), map(d_maps, t));
        multiply_add(map(maps, t).transpose(), by_head(d.recurrent_state[n], t), by_head(d_between, t));
      }
      d.recurrent_state[n] = d_between;
      for (Index h = 0; h < H; ++h) {  // between = state + rho A state
        const auto state = head(in.recurrent_state[n], static_cast<size_t>(h), shape_.heads);
        weighted_sum(attention[h], state, shape_.causal, mixed);
        d_mixed = rho(0, h) * head(d_between, h, shape_.heads);
        d.parameters[mixes_[in.layer]](0, h) += dot(mixed, head(d_between, h, shape_.heads));
        weighted_sum_backward(attention[h], state, shape_.causal, d_mixed, d_weights,
                              head(d.recurrent_state[n], h, shape_.heads));
        d_attention[h] += d_weights;
      }
    }

    // map(t) = sum over e of silu(pre(t, e)) products(e), products(e) = down(., e) up(e, .)
    Matrix& open = in.scratch(pre.rows(), pre.cols());
    sigmoid(pre, open);
    multiply(d_maps, products.transpose(), d_pre);
    d_pre.array() *= open.array() * (1 + pre.array() * (1 - open.array()));
    pre.array() *= open.array();
    multiply(pre.transpose(), d_maps, d_products);
    auto d_up = d.parameters[ups_[in.layer]], d_down = d.parameters[downs_[in.layer]];
    for (Index e = 0; e < E; ++e) {
      const auto d_product = map(d_products, e);
      multiply_add(down.col(e).transpose(), d_product, d_up.row(e));
      multiply_add(d_product, up.row(e).transpose(), d_down.middleCols(e, 1));
    }
    multiply_add(feed_forward.transpose(), d_pre, d.parameters[gates_[in.layer]]);
    multiply_add(d_pre, in.parameters[gates_[in.layer]].transpose(), d_feed_forward);
  }

 private:
  Index pairs() const { return shape_.head_width() / 2; }
  Index hidden() const { return ups_[0].rows; }
  /// A model that was trained with one loop and is tested with more has no maps in its last layer: the state passes it as
  /// it is.
  bool carries(const AttentionInput& in) const { return static_cast<size_t>(in.layer) < ups_.size(); }

  /// Row t of C or S as (H, D / 2), and row t of the maps over heads as (H, H).
  MatrixView by_head(Matrix& m, Index t) const { return {m.row(t).data(), shape_.heads, pairs()}; }
  MatrixView map(Matrix& m, Index t) const { return {m.row(t).data(), shape_.heads, shape_.heads}; }

  /// d_cosine += d_y_a x_a + d_y_b x_b,   d_sine += d_y_b x_a - d_y_a x_b
  void rotation_backward(const Matrix& x, const Matrix& d_y, Out d_cosine, Out d_sine) const {
    const auto xa = x.leftCols(pairs()).array(), xb = x.rightCols(pairs()).array();
    const auto ya = d_y.leftCols(pairs()).array(), yb = d_y.rightCols(pairs()).array();
    d_cosine.array() += ya * xa + yb * xb;
    d_sine.array() += yb * xa - ya * xb;
  }

  /// maps (T, H H): W_down diag(silu(pre)) W_up for each token, pre (T, E) = W_x f, products (E, H H) those of
  /// rows e.
  void head_maps(const AttentionInput& in, const Matrix& feed_forward, Matrix& pre, Matrix& products,
                 Matrix& maps) const {
    const auto up = in.parameters[ups_[in.layer]], down = in.parameters[downs_[in.layer]];
    for (Index e = 0; e < hidden(); ++e) map(products, e).noalias() = down.col(e) * up.row(e);
    Matrix& gates = in.scratch(in.length(), hidden());
    multiply(feed_forward, in.parameters[gates_[in.layer]], pre);
    sigmoid(pre, gates);
    gates.array() *= pre.array();
    multiply(gates, products, maps);
  }

  /// between = state + rho A state, head by head.
  void mix_by_attention(const AttentionInput& in, const Heads& attention, const Matrix& state, Matrix& mixed,
                        Matrix& between) const {
    for (size_t h = 0; h < attention.size(); ++h) {
      weighted_sum(attention[h], head(state, h, shape_.heads), shape_.causal, mixed);
      head(between, h, shape_.heads) =
          head(state, h, shape_.heads) + in.parameters[mixes_[in.layer]](0, static_cast<Index>(h)) * mixed;
    }
  }

  // rho (1, H), W_up (E, H), W_x (C, E), W_down (H, E), one for each layer that carries the state
  std::vector<Parameter> mixes_, ups_, gates_, downs_;
};

const RegisterEncoding<Tape> registered{{
    .name = "tape",
    .family = Family::contextual,
    .equation =
        "score_h(i, j) = y(q_i) . y(k_j) / sqrt(D), y(x) = x C + rot(x) S; C, S start as RoPE's cosines and sines "
        "and "
        "are mixed by attention, and over heads by a gate that the feed-forward output decides, block by block",
    .source = "Zhu et al. 2025, arXiv:2501.00712; VITA-Group/TAPE",
    .notes =
        "The map over heads after attention is one factor for each head, to which the released code reduces it.",
    .causal_only = true,
    .touches = "R",
    .learned = true,
    .extrapolates = Extrapolation::defined,
    .relative = Relative::yes,
    .content_dependent = "token, deep",
    .variants = {"hidden=3,base=100"},
}};

}  // namespace
}  // namespace posbench
