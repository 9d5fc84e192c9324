// Adds a term for tokens of the same segment to Transformer-XL's scores, with query biases for each layer.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "encodings/parts/relative_sinusoids.h"
#include "encodings/registry.h"
#include "model/attention.h"
#include "model/numeric.h"
#include "model/product.h"

namespace posbench::xlnet {
namespace {

const EncodingInfo kInfo{
    .name = "xlnet",
    .family = Family::relative_vectors,
    .equation =
        "score_h(i, j) = ((q_i + u_h) . k_j + (q_i + w_h) . (W S(i - j))_h + (q_i + b_h) . e_h[m]) / "
        "sqrt(D)\n"
        "m = 0 if tokens i and j are in the same segment, else 1;   S as in txl\n"
        "u, w, b (H, D), e (2, C), W (C, C) learned for each layer",
    .source = "Yang et al. 2019, arXiv:1906.08237, sections 2.4 and 2.5; zihangdai/xlnet",
    .used_in = {"XLNet"},
    .notes =
        "All parameters start at N(0, 0.02). Biases for each layer are those of the released recipe; "
        "untied=false shares u, w and b. Segments are the task's: word, operand or line. With bi_data=true "
        "half of the training sequences, drawn at random, have negated distances. In the code that half of "
        "each batch is text in reverse order; tasks cannot be reversed, so that only distances are negated "
        "here. Permuted targets and two streams belong to another training objective and are left out.",
    .learned = true,
    .takes_positions = TakesPositions::distances,
    .extrapolates = Extrapolation::defined,
    .relative = Relative::yes,
    .content_dependent = "query",
    .kernel = Kernel::score_modifier,
    .variants = {"clamp=4,untied=false", "segments=false", "bi_data=true"},
};

class Xlnet final : public RelativeSinusoids {
 public:
  struct Options {
    int clamp = 0;
    bool untied = true, segments = true, bi_data = false;
    bool chooses_positions() const { return bi_data; }
    void describe(OptionTable& o) {
      o.integer("clamp", clamp, 0, 1 << 20, "largest absolute distance, to which others are clipped; 0: none");
      o.flag("untied", untied, "separate u, w and b for each layer");
      o.flag("segments", segments, "the term for tokens of the same segment");
      o.flag("bi_data", bi_data, "negated distances in half of the training sequences");
    }
  };

  Xlnet(const Options& options, const ModelConfig& config, ParameterLayout& layout)
      : RelativeSinusoids({.name = "xlnet", .untied = options.untied, .clamp = options.clamp}, config, layout),
        options_(options) {
    if (!options.segments) return;
    for (int layer = 0; layer < config.layers; ++layer) {
      if (layer == 0 || options.untied) {
        const std::string name = options.untied ? fmt::format("xlnet.b.{}", layer) : "xlnet.b";
        segment_biases_.push_back(layout.no_decay(layout.normal(name, config.heads, config.head_width(), 0.02)));
      }
      segments_.push_back(
          layout.no_decay(layout.normal(fmt::format("xlnet.segments.{}", layer), 2, config.width, 0.02)));
    }
  }

  Positions positions(const Sequence& s, Rng& rng) const override {
    Positions positions = RelativeSinusoids::positions(s, rng);
    if (options_.bi_data && s.training && bernoulli(rng, 0.5)) {
      for (Real& p : positions.at) p = -p;
    }
    return positions;
  }

  void score(const AttentionInput& in, Heads& scores) const override {
    RelativeSinusoids::score(in, scores);
    if (!options_.segments) return;
    Matrix& by_segment = in.scratch(in.length(), 2);
    const Matrix& same = same_segment(in);
    for (size_t h = 0; h < scores.size(); ++h) {
      multiply(shifted(in, segment_biases_, h), vectors(in, h).transpose(), by_segment, scale());
      for (Index i = 0; i < in.length(); ++i) {
        const Index keys = num_visible_keys(i, in.length(), config_.causal);
        const Real other = by_segment(i, 1);
        scores[h].row(i).head(keys).array() += other + (by_segment(i, 0) - other) * same.row(i).head(keys).array();
      }
    }
  }

  void score_backward(const AttentionInput& in, const Heads& d_scores, AttentionGradient& d) const override {
    RelativeSinusoids::score_backward(in, d_scores, d);
    if (!options_.segments) return;
    const Index D = config_.head_width();
    Matrix &d_shifted = in.scratch(in.length(), D), &d_by_segment = in.scratch(in.length(), 2);
    const Matrix& same = same_segment(in);
    auto d_vectors = d.parameters[segments_[in.layer]], d_bias = d.parameters[of_layer(segment_biases_, in.layer)];
    for (size_t h = 0; h < d_scores.size(); ++h) {
      const Index row = static_cast<Index>(h);
      for (Index i = 0; i < in.length(); ++i) {
        const Index keys = num_visible_keys(i, in.length(), config_.causal);
        const auto d_row = d_scores[h].row(i).head(keys), same_row = same.row(i).head(keys);
        d_by_segment(i, 0) = dot(d_row, same_row);
        d_by_segment(i, 1) = sum(d_row) - d_by_segment(i, 0);
      }
      multiply(d_by_segment, vectors(in, h), d_shifted, scale());
      multiply_add(d_by_segment.transpose(), shifted(in, segment_biases_, h), d_vectors.middleCols(row * D, D),
                   scale());
      d.q[h] += d_shifted;
      add_column_sums(d_shifted, d_bias.row(row));
    }
  }

 private:
  /// Returns e_h (2, D).
  In vectors(const AttentionInput& in, size_t h) const {
    const Index D = config_.head_width();
    return in.parameters[segments_[in.layer]].middleCols(static_cast<Index>(h) * D, D);
  }
  /// Returns a matrix (T, T) with 1 for tokens of the same segment, and 0 for others.
  static const Matrix& same_segment(const AttentionInput& in) {
    const std::vector<int>& segments = in.sequence.segments;
    Matrix& same = in.scratch(in.length(), in.length());
    for (Index i = 0; i < in.length(); ++i) {
      for (Index j = 0; j < in.length(); ++j) same(i, j) = segments[i] == segments[j] ? 1 : 0;
    }
    return same;
  }

  Options options_;
  std::vector<Parameter> segment_biases_;  // b (H, D), one, or one for each layer
  std::vector<Parameter> segments_;        // e (2, C) for each layer; columns h D .. h D + D - 1 are head h's
};

const RegisterEncoding<Xlnet> registered{kInfo};

}  // namespace
}  // namespace posbench::xlnet
