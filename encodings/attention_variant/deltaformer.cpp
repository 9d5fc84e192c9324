// DeltaFormer: RoPE whose values are corrected by the delta rule. Each token attends with its key to
// earlier keys, and subtracts the result from its own value.
#include <fmt/format.h>

#include <optional>
#include <vector>

#include "encodings/parts/rotary.h"
#include "encodings/registry.h"
#include "model/attention.h"
#include "model/layers.h"
#include "model/numeric.h"
#include "model/product.h"

namespace posbench::deltaformer {
namespace {

const EncodingInfo kInfo{
    .name = "deltaformer",
    .family = Family::attention_variant,
    .equation =
        "output_h(i) = sum over j <= i of attention_h(i, j) u_j,   score_h(i, j) = R(i) q_i . R(j) k_j / sqrt(D)\n"
        "u_t         = v_t - beta_t (sum over j < t of P_h(t, j) u_j)\n"
        "P_h(t, .)   = softmax over j < t of R(t) k_t . R(j) k_j / sqrt(D);   similarity=queries: q_t, not k_t\n"
        "beta_t      = b_h . x_t + c_h;   strength=one: 1\n"
        "R(t)        rotates pair n, n + D / 2 by t 10000^(-2 n / D); rotary=false: not at all",
    .source = "Zhong et al. 2025, arXiv:2505.19488; fla-org/flash-linear-attention",
    .notes =
        "The layer is that of the library: R is RoPE with pairs half a head apart and base 10000, and beta is "
        "unbounded. b starts at N(0, 0.02) and c at 0, so that attention starts nearly plain. P compares "
        "keys with keys in the library's first version (195b74d) and in its description; since 71ed189 its code "
        "compares queries with keys (similarity=queries). Only the introduction of the paper and summaries could be "
        "read. "
        "strength=one is their form, and that of the library's function without beta. The paper also has a factor "
        "of v_t, other keys for P and other kernels than the softmax, which the library leaves out. If |beta| "
        "exceeds 1, u may grow exponentially with the length. rotary=false leaves out R. A window or a scale of "
        "the logits changes the scores, but not P.",
    .causal_only = true,
    .learned = true,
    .extrapolates = Extrapolation::defined,
    .relative = Relative::yes,
    .content_dependent = "key and earlier keys, through the values",
    .cached = "nothing, but u takes the place of v",
    .variants = {"rotary=false", "strength=one", "similarity=queries",
                 "rotary=false,similarity=queries,strength=one"},
};

enum class Strength { linear, one };
enum class Similarity { keys, queries };

class DeltaFormer final : public PositionEncoding {
 public:
  struct Options {
    Strength strength = Strength::linear;
    Similarity similarity = Similarity::keys;
    bool rotary = true;
    void describe(OptionTable& o) {
      o.choice("strength", strength, {"linear", "one"}, "beta: a linear map of the token, or 1");
      o.choice("similarity", similarity, {"keys", "queries"}, "vectors that P compares with earlier keys");
      o.flag("rotary", rotary, "rotation of queries and keys as in RoPE");
    }
  };

  DeltaFormer(const Options& options, const ModelConfig& config, ParameterLayout& layout)
      : PositionEncoding(config), similarity_(options.similarity) {
    if (options.rotary) rope_.emplace(config, RopeOptions{.pairing = kPairing}, kInfo.name);
    for (int layer = 0; layer < config.layers && options.strength == Strength::linear; ++layer) {
      weights_.push_back(
          layout.normal(fmt::format("deltaformer.strength.{}.weight", layer), config.width, config.heads, 0.02));
      biases_.push_back(layout.constant(fmt::format("deltaformer.strength.{}.bias", layer), 1, config.heads, 0));
    }
  }

  void tables(const Parameters& p, const Positions& positions, Tables& tables) const override {
    if (rope_) rope_->tables(p, positions, tables);
  }
  void score(const AttentionInput& in, Heads& scores) const override {
    rope_ ? rope_->score(in, scores) : PositionEncoding::score(in, scores);
  }
  void score_backward(const AttentionInput& in, const Heads& d_scores, AttentionGradient& d) const override {
    rope_ ? rope_->score_backward(in, d_scores, d) : PositionEncoding::score_backward(in, d_scores, d);
  }

  void mix(const AttentionInput& in, const Heads& attention, Heads& output) const override {
    Corrected c(in, config_);
    set_strengths(in, c);
    for (size_t h = 0; h < output.size(); ++h) {
      correct(in, h, c);
      weighted_sum(attention[h], c.value, /*causal=*/true, output[h]);
    }
  }

  void mix_backward(const AttentionInput& in, const Heads& attention, const Heads& d_output, Heads& d_attention,
                    AttentionGradient& d) const override {
    const Index T = in.length(), D = config_.head_width();
    Corrected c(in, config_);
    Matrix &d_value = in.scratch(T, D), &d_read = in.scratch(T, D);
    Matrix &d_query = in.scratch(T, D), &d_key = in.scratch(T, D);
    Matrix &d_weights = in.scratch(T - 1, T - 1), &d_scores = in.scratch(T - 1, T - 1);
    Matrix& d_strength = in.scratch(T, config_.heads);
    set_strengths(in, c);
    d_strength.setZero();
    for (size_t h = 0; h < d_output.size(); ++h) {
      const auto head = static_cast<Index>(h);
      correct(in, h, c);
      d_value.setZero();
      weighted_sum_backward(attention[h], c.value, /*causal=*/true, d_output[h], d_attention[h], d_value);
      for (Index t = T - 1; t > 0; --t) {  // All later tokens have added their gradients to d_value.row(t).
        d_strength(t, head) = -dot(d_value.row(t), c.read.row(t));
        d_read.row(t) = -c.strength(t, head) * d_value.row(t);
        multiply_add(c.weights.row(t - 1).head(t).transpose(), d_read.row(t), d_value.topRows(t));
      }
      d.v[h] += d_value;
      if (T == 1) continue;
      d_query.setZero();
      d_key.setZero();
      multiply(d_read.bottomRows(T - 1), c.value.topRows(T - 1).transpose(), d_weights, 1, Part::up_to_diagonal);
      softmax_backward(c.weights, /*causal=*/true, d_weights, d_scores);
      dot_product_backward(c.query.bottomRows(T - 1), c.key.topRows(T - 1), scale(), /*causal=*/true, d_scores,
                           d_query.bottomRows(T - 1), d_key.topRows(T - 1));
      rotated_backward(in, d_query, similarity_ == Similarity::keys ? d.k[h] : d.q[h]);
      rotated_backward(in, d_key, d.k[h]);
    }
    if (weights_.empty()) return;
    linear_backward(in.x, in.parameters[weights_[in.layer]], d_strength, d.x, d.parameters[weights_[in.layer]],
                    d.parameters[biases_[in.layer]]);
  }

 private:
  static constexpr Pairing kPairing = Pairing::half_split;

  /// The corrected values of a head and what they are computed from, in scratch.
  struct Corrected {
    Corrected(const AttentionInput& in, const ModelConfig& config)
        : strength(in.scratch(in.length(), config.heads)),
          query(in.scratch(in.length(), config.head_width())),
          key(in.scratch(in.length(), config.head_width())),
          scores(in.scratch(in.length() - 1, in.length() - 1)),
          weights(in.scratch(in.length() - 1, in.length() - 1)),
          read(in.scratch(in.length(), config.head_width())),
          value(in.scratch(in.length(), config.head_width())) {}
    Matrix& strength;  // (T, H): beta
    Matrix& query;     // (T, D): R k or R q
    Matrix& key;       // (T, D): R k
    Matrix& scores;    // (T - 1, T - 1): query . key / sqrt(D), row t - 1 for token t
    Matrix& weights;   // (T - 1, T - 1): P, row t - 1 for token t
    Matrix& read;      // (T, D): P u
    Matrix& value;     // (T, D): u
  };

  void set_strengths(const AttentionInput& in, Corrected& c) const {
    if (weights_.empty()) {
      c.strength.setOnes();
    } else {
      linear(in.x, in.parameters[weights_[in.layer]], in.parameters[biases_[in.layer]], c.strength);
    }
  }

  void correct(const AttentionInput& in, size_t h, Corrected& c) const {
    const Index T = in.length();
    rotated(in, similarity_ == Similarity::keys ? in.k[h] : in.q[h], c.query);
    rotated(in, in.k[h], c.key);
    c.value.row(0) = in.v[h].row(0);
    if (T == 1) return;
    // Token t sees t keys: as a query of plain causal attention, if the queries begin with token 1.
    dot_product(c.query.bottomRows(T - 1), c.key.topRows(T - 1), scale(), /*causal=*/true, c.scores);
    softmax(c.scores, /*causal=*/true, c.weights);
    for (Index t = 1; t < T; ++t) {
      multiply(c.weights.row(t - 1).head(t), c.value.topRows(t), c.read.row(t));
      c.value.row(t) = in.v[h].row(t) - c.strength(t, static_cast<Index>(h)) * c.read.row(t);
    }
  }

  /// y = R x
  void rotated(const AttentionInput& in, const Matrix& x, Matrix& y) const {
    if (!rope_) {
      y = x;
      return;
    }
    const auto& rotations = in.tables.constants<Rotations>();
    rotate(x, rotations.cosine.topRows(in.length()), rotations.sine.topRows(in.length()), kPairing, y);
  }
  void rotated_backward(const AttentionInput& in, const Matrix& d_y, Matrix& d_x) const {
    if (!rope_) {
      d_x += d_y;
      return;
    }
    const auto& rotations = in.tables.constants<Rotations>();
    rotate_backward(d_y, rotations.cosine.topRows(in.length()), rotations.sine.topRows(in.length()), kPairing,
                    d_x);
  }

  Similarity similarity_;
  std::optional<RopeVariant> rope_;
  std::vector<Parameter> weights_, biases_;  // b (C, H), c (1, H), one for each layer, or none
};

const RegisterEncoding<DeltaFormer> registered{kInfo};

}  // namespace
}  // namespace posbench::deltaformer
