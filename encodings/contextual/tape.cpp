// TAPE, contextualized equivariant position encoding: the rotations of each token and head are a recurrent state.
// The state starts as that of RoPE. Every block updates it by its attention and by the output of its feed-forward
// layer.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "encodings/parts/decorator.h"
#include "encodings/parts/head_map.h"
#include "encodings/parts/rotary.h"
#include "encodings/registry.h"
#include "model/attention.h"
#include "model/numeric.h"

namespace posbench::tape {
namespace {

const EncodingInfo kInfo{
    .name = "tape",
    .family = Family::contextual,
    .equation =
        "score_h(i, j) = y(q_i) . y(k_j) / sqrt(D),   y(x) = x * C + rot(x) * S,   rot(a, b) = (-b, a) by halves\n"
        "C_h <- cos(p w_n),   S_h <- sin(p w_n)                      at the start, for both halves\n"
        "C_h <- C_h + rho_h A_h C_h,   S likewise                    after attention A\n"
        "C   <- C + W_down (SiLU(W_x f) * (W_up C)),   S likewise    after the feed-forward layer's output f",
    .source = "Zhu et al. 2025, arXiv:2501.00712; VITA-Group/TAPE",
    .notes =
        "As released, nothing is renormalized, so that rotations scale. The released code has a map over heads, but "
        "sums its H weights, which one weight rho_h replaces. The inner width is 4 H, "
        "48 for 12 heads. W_up and rho start at zero, so that the model starts as RoPE, W_x and W_down at N(0, "
        "0.02). The released code also draws a random offset of all positions in training. All maps commute "
        "with a common rotation, so nothing depends on it, and it is left out.",
    .causal_only = true,
    .learned = true,
    .extrapolates = Extrapolation::defined,
    .relative = Relative::yes,
    .content_dependent = "token, deep",
    .cached = "C cosines and sines",
    .variants = {"hidden=3,base=100"},
};

enum { kC, kS, kStates };  // the recurrent state

/// Wraps RoPE, whose cosines and sines are the initial state.
class Tape final : public Decorator {
 public:
  struct Options {
    double base = 10000;
    int hidden = 0;
    void describe(OptionTable& o) {
      o.number("base", base, 1.001, 1e9, "base of RoPE's frequencies, from which the state starts");
      o.integer("hidden", hidden, 0, 4096, "inner width of the map over heads; 0: four times the heads");
    }
  };

  Tape(const Options& options, const ModelConfig& config, ParameterLayout& layout)
      : Decorator(config, make_encoding({"rope", {{"base", fmt::format("{}", options.base)}}}, config, layout)) {
    const Index hidden = options.hidden > 0 ? options.hidden : 4 * config.heads;
    // Nothing reads the state after the last block.
    const int updating_layers = config.loops > 1 ? config.layers : config.layers - 1;
    for (int layer = 0; layer < updating_layers; ++layer) {
      const std::string name = fmt::format("tape.{}", layer);
      rhos_.push_back(layout.constant(name + ".attention", 1, config.heads, 0));
      head_maps_.emplace_back(name, hidden, config, layout);
    }
  }

  int recurrent_states() const override { return kStates; }
  void embed(const Sequence&, const Parameters&, const Tables& tables, Matrix& x,
             Matrices& recurrent_state) const override {
    const Rotations& rotations = tables.constants<Rotations>();
    recurrent_state.resize(kStates);
    for (Matrix& state : recurrent_state) state.resize(x.rows(), config_.heads * pairs());
    recurrent_state[kC] = rotations.cosine.topRows(x.rows()).replicate(1, config_.heads);
    recurrent_state[kS] = rotations.sine.topRows(x.rows()).replicate(1, config_.heads);
  }

  void score(const AttentionInput& in, Heads& scores) const override {
    Matrix &q = in.scratch(in.length(), config_.head_width()), &k = in.scratch(in.length(), config_.head_width());
    for (size_t h = 0; h < scores.size(); ++h) {
      const auto cosine = head(in.recurrent_state[kC], h), sine = head(in.recurrent_state[kS], h);
      rotate(in.q[h], cosine, sine, kPairing, q);
      rotate(in.k[h], cosine, sine, kPairing, k);
      dot_product(q, k, scale(), config_.causal, scores[h]);
    }
  }
  void score_backward(const AttentionInput& in, const Heads& d_scores, AttentionGradient& d) const override {
    const Index T = in.length(), D = config_.head_width();
    Matrix &q = in.scratch(T, D), &k = in.scratch(T, D), &d_q = in.scratch(T, D), &d_k = in.scratch(T, D);
    for (size_t h = 0; h < d_scores.size(); ++h) {
      const auto cosine = head(in.recurrent_state[kC], h), sine = head(in.recurrent_state[kS], h);
      auto d_cosine = head(d.recurrent_state[kC], h), d_sine = head(d.recurrent_state[kS], h);
      rotate(in.q[h], cosine, sine, kPairing, q);
      rotate(in.k[h], cosine, sine, kPairing, k);
      d_q.setZero();
      d_k.setZero();
      dot_product_backward(q, k, scale(), config_.causal, d_scores[h], d_q, d_k);
      rotate_backward(d_q, cosine, sine, kPairing, d.q[h]);
      rotate_backward(d_k, cosine, sine, kPairing, d.k[h]);
      rotate_factors_backward(in.q[h], d_q, kPairing, d_cosine, d_sine);
      rotate_factors_backward(in.k[h], d_k, kPairing, d_cosine, d_sine);
    }
  }

  void carry(const AttentionInput& in, const Heads& attention, const Matrix& feed_forward,
             Matrices& next) const override {
    if (!updates_state(in)) return;
    const HeadMap& head_map = head_maps_[in.layer];
    const HeadMap::Maps maps = head_map.maps(in, feed_forward);
    for (size_t n = 0; n < kStates; ++n) {
      Matrix& after_attention = in.scratch(in.length(), next[n].cols());
      update_by_attention(in, attention, in.recurrent_state[n], after_attention);
      head_map.apply(maps, after_attention, next[n]);
    }
  }
  void carry_backward(const AttentionInput& in, const Heads& attention, const Matrix& feed_forward,
                      Heads& d_attention, Matrix& d_feed_forward, AttentionGradient& d) const override {
    if (!updates_state(in)) return;
    const HeadMap& head_map = head_maps_[in.layer];
    const HeadMap::Maps maps = head_map.maps(in, feed_forward);
    Matrix& d_maps = in.scratch(in.length(), maps.by_token.cols());
    d_maps.setZero();
    for (size_t n = 0; n < kStates; ++n) {
      Matrix &d_next = d.recurrent_state[n], &after_attention = in.scratch(in.length(), d_next.cols()),
             &d_after_attention = in.scratch(in.length(), d_next.cols());
      update_by_attention(in, attention, in.recurrent_state[n], after_attention);
      head_map.apply_backward(maps, after_attention, d_next, d_after_attention, d_maps);
      update_by_attention_backward(in, attention, n, d_after_attention, d_attention, d);
    }
    head_map.maps_backward(in, feed_forward, maps, d_maps, d_feed_forward, d.parameters);
  }

 private:
  static constexpr Pairing kPairing = Pairing::half_split;

  Index pairs() const { return config_.head_width() / 2; }
  /// The columns of head h in a state.
  In head(const Matrix& state, size_t h) const {
    return state.middleCols(static_cast<Index>(h) * pairs(), pairs());
  }
  Out head(Matrix& state, size_t h) const { return state.middleCols(static_cast<Index>(h) * pairs(), pairs()); }
  /// A model that is trained with one loop and tested with more has no parameters in its last layer, which
  /// does not update the state.
  bool updates_state(const AttentionInput& in) const { return static_cast<size_t>(in.layer) < head_maps_.size(); }

  /// after_attention_h = state_h + rho_h A_h state_h
  void update_by_attention(const AttentionInput& in, const Heads& attention, const Matrix& state,
                           Matrix& after_attention) const {
    const auto rho = in.parameters[rhos_[in.layer]];
    Matrix& attended = in.scratch(in.length(), pairs());
    for (size_t h = 0; h < attention.size(); ++h) {
      weighted_sum(attention[h], head(state, h), config_.causal, attended);
      head(after_attention, h) = head(state, h) + rho(0, static_cast<Index>(h)) * attended;
    }
  }
  /// The backward pass for state n. Overwrites the gradient of the state.
  void update_by_attention_backward(const AttentionInput& in, const Heads& attention, size_t n,
                                    const Matrix& d_after_attention, Heads& d_attention,
                                    AttentionGradient& d) const {
    const Index T = in.length();
    const auto rho = in.parameters[rhos_[in.layer]];
    Matrix &attended = in.scratch(T, pairs()), &d_attended = in.scratch(T, pairs()), &d_weights = in.scratch(T, T);
    d.recurrent_state[n] = d_after_attention;
    for (size_t h = 0; h < attention.size(); ++h) {
      const Index column = static_cast<Index>(h);
      const auto state = head(in.recurrent_state[n], h), d_after = head(d_after_attention, h);
      weighted_sum(attention[h], state, config_.causal, attended);
      d_attended = rho(0, column) * d_after;
      d.parameters[rhos_[in.layer]](0, column) += dot(attended, d_after);
      weighted_sum_backward(attention[h], state, config_.causal, d_attended, d_weights,
                            head(d.recurrent_state[n], h));
      d_attention[h] += d_weights;
    }
  }

  // For each layer that updates the state:
  std::vector<Parameter> rhos_;  // (1, H)
  std::vector<HeadMap> head_maps_;
};

const RegisterEncoding<Tape> registered{kInfo};

}  // namespace
}  // namespace posbench::tape
