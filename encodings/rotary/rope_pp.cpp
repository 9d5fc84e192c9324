// RoPE++: heads in pairs. The first head of a pair scores with the real part of RoPE's complex product, the second
// with its imaginary part, which RoPE discards. Both read the queries, keys and values of the first.
#include <cmath>
#include <vector>

#include "encodings/aliases.h"
#include "encodings/parts/rotary.h"
#include "encodings/registry.h"
#include "model/attention.h"

namespace posbench::rope_pp {
namespace {

const EncodingInfo kInfo{
    .name = "rope_pp",
    .family = Family::rotary,
    .equation =
        "score_2g(i, j)     = Re z / sqrt(D),   q, k and v of head 2g for both heads\n"
        "score_(2g+1)(i, j) = Im z / sqrt(D)\n"
        "z                  = sum over pairs n of q_in conj(k_jn) exp(i (p_i - p_j) base^(-2n / D)), "
        "with pairs as complex numbers",
    .source = "Liu et al. 2025, arXiv:2512.07525; OpenMOSS/rope_pp",
    .notes =
        "This is RoPE++_EH, with as many heads as RoPE (imag_mode=imag1 in the code). The published model leaves "
        "out the projections of every second head. Here they exist without effect and count as parameters. "
        "RoPE++_EC has twice the heads and an output projection of twice the width, which the stages of an "
        "encoding cannot add. Three more modes of the code share no projections. They have the functions of rope, "
        "since Im z is RoPE's score after a turn of each pair of q by -pi / 2, which a projection can contain.",
    .takes_positions = TakesPositions::positions,
    .extrapolates = Extrapolation::defined,
    .relative = Relative::yes,
    .content_dependent = "no",
    .kernel = Kernel::any,
    .heads_multiple_of = 2,
    .variants = {"base=100,pairing=half_split"},
};

class RopePp final : public PositionEncoding {
 public:
  using Options = RopeOptions;

  RopePp(const Options& options, const ModelConfig& config, ParameterLayout&)
      : PositionEncoding(config), options_(options) {
    require_pairs(config, kInfo.name);
  }

  void tables(const Parameters&, const Positions& positions, Tables& tables) const override {
    const std::vector<double> frequencies = rope_frequencies(config_.head_width(), options_.base);
    Turns& r = tables.constants<Turns>();
    r.cosine.resize(positions.size(), static_cast<Index>(frequencies.size()));
    r.sine.resize(r.cosine.rows(), r.cosine.cols());
    r.minus_cosine.resize(r.cosine.rows(), r.cosine.cols());
    for (Index t = 0; t < r.cosine.rows(); ++t) {
      for (Index n = 0; n < r.cosine.cols(); ++n) {  // in double precision, because positions may be large
        const double angle = static_cast<double>(positions.at[t]) * frequencies[n];
        r.cosine(t, n) = static_cast<Real>(std::cos(angle));
        r.sine(t, n) = static_cast<Real>(std::sin(angle));
      }
    }
    r.minus_cosine = -r.cosine;
  }

  void score(const AttentionInput& in, Heads& scores) const override {
    const Index T = in.length(), D = config_.head_width();
    Matrix &q = in.scratch(T, D), &k = in.scratch(T, D);
    for (size_t h = 0; h < scores.size(); ++h) {
      const Turn turn = turn_of_query(in, h), key = turn_of_key(in);
      rotate(in.q[shared(h)], turn.cosine, turn.sine, options_.pairing, q);
      rotate(in.k[shared(h)], key.cosine, key.sine, options_.pairing, k);
      dot_product(q, k, scale(), config_.causal, scores[h]);
    }
  }
  void score_backward(const AttentionInput& in, const Heads& d_scores, AttentionGradient& d) const override {
    const Index T = in.length(), D = config_.head_width();
    Matrix &q = in.scratch(T, D), &k = in.scratch(T, D), &d_q = in.scratch(T, D), &d_k = in.scratch(T, D);
    for (size_t h = 0; h < d_scores.size(); ++h) {
      const Turn turn = turn_of_query(in, h), key = turn_of_key(in);
      rotate(in.q[shared(h)], turn.cosine, turn.sine, options_.pairing, q);
      rotate(in.k[shared(h)], key.cosine, key.sine, options_.pairing, k);
      d_q.setZero();
      d_k.setZero();
      dot_product_backward(q, k, scale(), config_.causal, d_scores[h], d_q, d_k);
      rotate_backward(d_q, turn.cosine, turn.sine, options_.pairing, d.q[shared(h)]);
      rotate_backward(d_k, key.cosine, key.sine, options_.pairing, d.k[shared(h)]);
    }
  }

  void mix(const AttentionInput& in, const Heads& attention, Heads& output) const override {
    for (size_t h = 0; h < output.size(); ++h)
      weighted_sum(attention[h], in.v[shared(h)], config_.causal, output[h]);
  }
  void mix_backward(const AttentionInput& in, const Heads& attention, const Heads& d_output, Heads& d_attention,
                    AttentionGradient& d) const override {
    for (size_t h = 0; h < d_output.size(); ++h) {
      weighted_sum_backward(attention[h], in.v[shared(h)], config_.causal, d_output[h], d_attention[h],
                            d.v[shared(h)]);
    }
  }

  void content(const AttentionInput& in, Heads& content) const override {
    const Index T = in.length(), D = config_.head_width();
    Matrix &q = in.scratch(T, D), &cosine = in.scratch(T, D / 2), &sine = in.scratch(T, D / 2);
    for (size_t h = 0; h < content.size(); ++h) {
      cosine.setConstant(is_imaginary(h) ? 0 : 1);
      sine.setConstant(is_imaginary(h) ? -1 : 0);
      rotate(in.q[shared(h)], cosine, sine, options_.pairing, q);
      dot_product(q, in.k[shared(h)], scale(), config_.causal, content[h]);
    }
  }

 private:
  struct Turns {
    Matrix cosine, sine, minus_cosine;  // (T, pairs)
  };
  struct Turn {
    In cosine, sine;  // (T, pairs)
  };

  static bool is_imaginary(size_t h) { return h % 2 == 1; }
  /// Returns the head whose queries, keys and values head h reads.
  static size_t shared(size_t h) { return h - h % 2; }

  static Turn turn_of_key(const AttentionInput& in) {
    const Turns& r = in.tables.constants<Turns>();
    return {r.cosine.topRows(in.length()), r.sine.topRows(in.length())};
  }
  /// Returns the turn of a position, minus a quarter turn in imaginary heads: cos(a - pi / 2) = sin(a) and
  /// sin(a - pi / 2) = -cos(a).
  static Turn turn_of_query(const AttentionInput& in, size_t h) {
    const Turns& r = in.tables.constants<Turns>();
    if (!is_imaginary(h)) return turn_of_key(in);
    return {r.sine.topRows(in.length()), r.minus_cosine.topRows(in.length())};
  }

  Options options_;
};

const RegisterEncoding<RopePp> registered{kInfo};
const RegisterAliases aliases{kInfo.name, {"rope++"}};

}  // namespace
}  // namespace posbench::rope_pp
