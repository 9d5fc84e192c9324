// MapFormer, episodic memory: scores of content times scores of position. The latter are products of two learned
// vectors, rotated by the sum of the tokens' steps.
#include "encodings/parts/path_integration.h"
#include "encodings/parts/rotary.h"
#include "encodings/registry.h"
#include "model/attention.h"
#include "model/numeric.h"

namespace posbench::mapformer_em {
namespace {

const EncodingInfo kInfo{
    .name = "mapformer_em",
    .family = Family::contextual,
    .equation =
        "score_h(i, j) = (q_i . k_j / sqrt(D)) (R(phi_h(i)) q0_h . R(phi_h(j)) k0_h / sqrt(D))\n"
        "phi           = the angles of mapformer_wm: omega times the sum of the tokens' steps",
    .source = "Rambaud et al. 2025, arXiv:2511.19279; PrashRangarajan/mapformer (a re-implementation)",
    .notes =
        "Read in a re-implementation; the authors' code was not found. It is unverified that the paper "
        "multiplies scores, as here: another file of that repository multiplies two attentions after a softmax "
        "each and calls this the paper's form. q0 and k0 (H, D), one pair for all layers, start at N(0, 0.02), "
        "so that attention starts nearly uniform.",
    .causal_only = true,
    .learned = true,
    .extrapolates = Extrapolation::defined,
    .relative = Relative::accumulated,
    .content_dependent = "token",
    .kernel = Kernel::score_modifier,
    .cached = "C / 2 angles",
    .variants = {"rank=3,range=9,deviation=1"},
};

class MapFormerEm final : public PositionEncoding {
 public:
  struct Options : PathIntegration::Options {
    double deviation = 0.02;
    void describe(OptionTable& o) {
      PathIntegration::Options::describe(o);
      o.number("deviation", deviation, 0, 10, "standard deviation of the initial q0 and k0");
    }
  };

  MapFormerEm(const Options& options, const ModelConfig& config, ParameterLayout& layout)
      : PositionEncoding(config),
        path_("mapformer_em", options, config, layout),
        query_(layout.no_decay(
            layout.normal("mapformer_em.query", config.heads, config.head_width(), options.deviation))),
        key_(layout.no_decay(
            layout.normal("mapformer_em.key", config.heads, config.head_width(), options.deviation))) {}

  int recurrent_states() const override { return 1; }
  void embed(const Sequence&, const Parameters& p, const Tables&, Matrix& x,
             Matrices& recurrent_state) const override {
    path_.embed(p, x, recurrent_state);
  }
  void embed_backward(const Sequence&, const Parameters& p, const Tables&, const Matrix& x,
                      const Matrices& d_recurrent_state, Matrix& d_x, Matrices&, Gradients& d) const override {
    path_.embed_backward(p, x, d_recurrent_state, d_x, d);
  }

  void score(const AttentionInput& in, Heads& scores) const override {
    const Index T = in.length();
    const Rotated rotated = this->rotated(in);
    Matrix& by_position = in.scratch(T, T);
    PositionEncoding::score(in, scores);
    for (size_t h = 0; h < scores.size(); ++h) {
      rotate_vectors(in, rotated, h);
      dot_product(rotated.q, rotated.k, scale(), config_.causal, by_position);
      for (Index i = 0; i < T; ++i) {
        const Index keys = num_visible_keys(i, T, config_.causal);
        scores[h].row(i).head(keys).array() *= by_position.row(i).head(keys).array();
      }
    }
  }

  void score_backward(const AttentionInput& in, const Heads& d_scores, AttentionGradient& d) const override {
    const Index T = in.length(), D = config_.head_width();
    const Rotated rotated = this->rotated(in);
    Matrix &by_position = in.scratch(T, T), &by_content = in.scratch(T, T);
    Matrix &d_q = in.scratch(T, D), &d_k = in.scratch(T, D), &d_vectors = in.scratch(T, D);
    Matrix& d_angles = in.scratch(T, rotated.cosine.cols());
    d_angles.setZero();
    for (size_t h = 0; h < d_scores.size(); ++h) {
      rotate_vectors(in, rotated, h);
      dot_product(rotated.q, rotated.k, scale(), config_.causal, by_position);
      dot_product(in.q[h], in.k[h], scale(), config_.causal, by_content);
      for (Index i = 0; i < T; ++i) {  // each score becomes the gradient of the other
        const Index keys = num_visible_keys(i, T, config_.causal);
        by_position.row(i).head(keys).array() *= d_scores[h].row(i).head(keys).array();
        by_content.row(i).head(keys).array() *= d_scores[h].row(i).head(keys).array();
      }
      zero_future_keys(config_.causal, by_position);
      zero_future_keys(config_.causal, by_content);
      dot_product_backward(in.q[h], in.k[h], scale(), config_.causal, by_position, d.q[h], d.k[h]);
      d_q.setZero();
      d_k.setZero();
      dot_product_backward(rotated.q, rotated.k, scale(), config_.causal, by_content, d_q, d_k);

      const Index row = static_cast<Index>(h), first = row * D / 2;
      const auto cosine = rotated.cosine.middleCols(first, D / 2), sine = rotated.sine.middleCols(first, D / 2);
      rotate_angle_backward(rotated.q, d_q, kPairing, d_angles.middleCols(first, D / 2));
      rotate_angle_backward(rotated.k, d_k, kPairing, d_angles.middleCols(first, D / 2));
      d_vectors.setZero();
      rotate_backward(d_q, cosine, sine, kPairing, d_vectors);
      add_column_sums(d_vectors, d.parameters[query_].row(row));
      d_vectors.setZero();
      rotate_backward(d_k, cosine, sine, kPairing, d_vectors);
      add_column_sums(d_vectors, d.parameters[key_].row(row));
    }
    path_.angles_backward(in, d_angles, d);
  }

  /// Two tokens at the same position have the score of positions q0_h . k0_h / sqrt(D).
  void content(const AttentionInput& in, Heads& content) const override {
    PositionEncoding::content(in, content);
    for (size_t h = 0; h < content.size(); ++h) {
      const Index row = static_cast<Index>(h);
      content[h] *= scale() * dot(in.parameters[query_].row(row), in.parameters[key_].row(row));
    }
  }

 private:
  static constexpr Pairing kPairing = Pairing::interleaved;

  struct Rotated {
    Matrix &cosine, &sine;  // (T, H D / 2)
    Matrix& vectors;        // (T, D): q0 or k0 in every row
    Matrix &q, &k;          // (T, D): q0 and k0 rotated by the angles of every token
  };

  Rotated rotated(const AttentionInput& in) const {
    const Index T = in.length(), D = config_.head_width();
    Matrix &angles = path_.angles(in), &sine = in.scratch(T, angles.cols());
    sine_cosine(angles, sine, angles);
    return {angles, sine, in.scratch(T, D), in.scratch(T, D), in.scratch(T, D)};
  }

  /// Rotates the two vectors of head h by the angles of every token.
  void rotate_vectors(const AttentionInput& in, const Rotated& p, size_t h) const {
    const Index D = config_.head_width(), row = static_cast<Index>(h);
    const auto cosine = p.cosine.middleCols(row * D / 2, D / 2), sine = p.sine.middleCols(row * D / 2, D / 2);
    p.vectors.rowwise() = in.parameters[query_].row(row);
    rotate(p.vectors, cosine, sine, kPairing, p.q);
    p.vectors.rowwise() = in.parameters[key_].row(row);
    rotate(p.vectors, cosine, sine, kPairing, p.k);
  }

  PathIntegration path_;
  Parameter query_, key_;  // (H, D)
};

const RegisterEncoding<MapFormerEm> registered{kInfo};

}  // namespace
}  // namespace posbench::mapformer_em
