// XLNet: Transformer-XL with biases for each layer, and a term for whether two tokens belong to the same segment.
//
//   score_h(i, j) = ((q_i + u_h) . k_j + (q_i + w_h) . (W S(i - j))_h + (q_i + b_h) . e_h[m]) / sqrt(D)
//   m             = 0 where i and j are of the same segment, 1 elsewhere;   S as in txl
//
// u, w, b (H, D) and e (2, C) for each layer, as in the released recipe; untied=false shares u, w and b. W (C, C)
// for each layer. All start at N(0, 0.02). Segments are the task's: word, operand or line.
//
// bi_data=true: half of the training sequences, drawn at random, have negated distances.
//
// Yang et al. 2019, arXiv:1906.08237, sections 2.4 and 2.5; zihangdai/xlnet. Left out: its permuted targets and
// two streams, which belong to another training objective. With its `bi_data` the half of each batch whose distances
// are negated is text in reverse order; tasks cannot be reversed, so that ours only negates.
#include "encodings/parts/relative_sinusoids.h"
#include "encodings/registry.h"
#include "model/attention.h"
#include "model/numeric.h"
#include "model/product.h"

namespace posbench {
namespace {

class Xlnet final : public RelativeSinusoids {
 public:
  struct Options {
    int clamp = 0;
    bool untied = true, segments = true, bi_data = false;
    void describe(OptionTable& o) {
      o.integer("clamp", clamp, 0, 1 << 20, "distances are clipped to +- this before the sinusoid; 0: never");
      o.flag("untied", untied, "u, w and b for each layer");
      o.flag("segments", segments, "the third term: same segment or not");
      o.flag("bi_data", bi_data, "half of the training sequences have negated distances");
    }
  };

  Xlnet(const Options& options, const ModelShape& shape, ParameterLayout& layout)
      : RelativeSinusoids({.name = "xlnet", .untied = options.untied, .clamp = options.clamp}, shape, layout),
        options_(options) {
    if (!options.segments) return;
    for (int layer = 0; layer < shape.layers; ++layer) {
      if (layer == 0 || options.untied) {
        const std::string name = options.untied ? fmt::format("xlnet.b.{}", layer) : "xlnet.b";
        shifts_.push_back(layout.no_decay(layout.normal(name, shape.heads, shape.head_width(), 0.02)));
      }
      segments_.push_back(
          layout.no_decay(layout.normal(fmt::format("xlnet.segments.{}", layer), 2, shape.width, 0.02)));
    }
  }

  Positions positions(const Sequence& s, Rng& rng) const override {
    Positions positions = RelativeSinusoids::positions(s, rng);
    if (options_.bi_data && s.training && chance(rng, 0.5)) {
      for (Real& p : positions.at) p = -p;
    }
    return positions;
  }

  void score(const AttentionInput& in, Heads& scores) const override {
    RelativeSinusoids::score(in, scores);
    if (!options_.segments) return;
    Matrix &shifted = in.scratch(in.length(), shape_.head_width()), &by_segment = in.scratch(in.length(), 2);
    const Matrix& same = same_segment(in);
    for (size_t h = 0; h < scores.size(); ++h) {
      shift(in, h, shifted);
      multiply(shifted, vectors(in, h).transpose(), by_segment, scale());
      for (Index i = 0; i < in.length(); ++i) {
        const Index keys = visible(i, in.length(), shape_.causal);
        const Real other = by_segment(i, 1);
        scores[h].row(i).head(keys).array() += other + (by_segment(i, 0) - other) * same.row(i).head(keys).array();
      }
    }
  }

  void score_backward(const AttentionInput& in, const Heads& d_scores, AttentionGradient& d) const override {
    RelativeSinusoids::score_backward(in, d_scores, d);
    if (!options_.segments) return;
    const Index D = shape_.head_width();
    Matrix &shifted = in.scratch(in.length(), D), &d_shifted = in.scratch(in.length(), D);
    Matrix& d_by_segment = in.scratch(in.length(), 2);
    const Matrix& same = same_segment(in);
    auto d_vectors = d.parameters[segments_[in.layer]], d_shift = d.parameters[shift_of(in.layer)];
    for (size_t h = 0; h < d_scores.size(); ++h) {
      const Index row = static_cast<Index>(h);
      shift(in, h, shifted);
      for (Index i = 0; i < in.length(); ++i) {
        const Index keys = visible(i, in.length(), shape_.causal);
        const auto d_row = d_scores[h].row(i).head(keys), same_row = same.row(i).head(keys);
        d_by_segment(i, 0) = dot(d_row, same_row);
        d_by_segment(i, 1) = sum(d_row) - d_by_segment(i, 0);
      }
      multiply(d_by_segment, vectors(in, h), d_shifted, scale());
      multiply_add(d_by_segment.transpose(), shifted, d_vectors.middleCols(row * D, D), scale());
      d.q[h] += d_shifted;
      add_column_sums(d_shifted, d_shift.row(row));
    }
  }

 private:
  const Parameter& shift_of(int layer) const { return shifts_[options_.untied ? layer : 0]; }
  /// q_i + b_h, for all i.
  void shift(const AttentionInput& in, size_t h, Matrix& shifted) const {
    shifted = in.q[h];
    shifted.rowwise() += in.parameters[shift_of(in.layer)].row(static_cast<Index>(h));
  }
  /// e_h (2, D)
  In vectors(const AttentionInput& in, size_t h) const {
    const Index D = shape_.head_width();
    return in.parameters[segments_[in.layer]].middleCols(static_cast<Index>(h) * D, D);
  }
  /// (T, T): 1 where two tokens belong to the same segment, 0 elsewhere.
  static const Matrix& same_segment(const AttentionInput& in) {
    const std::vector<int>& segments = in.sequence.segments;
    Matrix& same = in.scratch(in.length(), in.length());
    for (Index i = 0; i < in.length(); ++i) {
      for (Index j = 0; j < in.length(); ++j) same(i, j) = segments[i] == segments[j] ? 1 : 0;
    }
    return same;
  }

  Options options_;
  std::vector<Parameter> shifts_;    // b (H, D): one, or one for each layer
  std::vector<Parameter> segments_;  // e (2, C) for each layer: same, different; columns h D .. are head h's
};

const RegisterEncoding<Xlnet> registered{{
    .name = "xlnet",
    .family = Family::relative_vectors,
    .equation =
        "score_h(i, j) = ((q_i + u_h) . k_j + (q_i + w_h) . (W S(i - j))_h + (q_i + b_h) . e_h[same segment?]) "
        "/ sqrt(D)",
    .source = "Yang et al. 2019, arXiv:1906.08237, sections 2.4 and 2.5; zihangdai/xlnet",
    .notes =
        "Segments are the task's. Left out: permuted targets and two streams. With bi_data the code's half of negated "
        "distances is text in reverse order, which ours is not.",
    .touches = "Q",
    .learned = true,
    .takes_positions = TakesPositions::distances,
    .extrapolates = Extrapolation::defined,
    .relative = Relative::yes,
    .content_dependent = "query",
    .variants = {"clamp=4,untied=false", "segments=false", "bi_data=true"},
}};

}  // namespace
}  // namespace posbench
