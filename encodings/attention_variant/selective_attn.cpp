// Selective attention: the scores of one head also decide which keys later queries no longer need. All heads mask
// these keys softly.
#include "encodings/registry.h"
#include "model/attention.h"

namespace posbench::selective_attn {
namespace {

const EncodingInfo kInfo{
    .name = "selective_attn",
    .family = Family::attention_variant,
    .equation =
        "score_h(i, j) = q_i . k_j / sqrt(D) - F(i, j)\n"
        "F(i, j)       = sum over j < t < i of max(S(t, j), 0),   0 for j = 0\n"
        "S             = the scores of head 0, q . k / sqrt(D)",
    .source = "Leviathan et al. 2024, arXiv:2410.02703; checked against lucidrains/x-transformers",
    .notes =
        "A token masks only earlier tokens, and only for later queries. The first token (a BOS in the paper) "
        "is exempt. Masks add up between key and query, so that only the first token tells positions apart. No "
        "code of the authors was found: the exempt entries and the shift by one row are those of "
        "lucidrains/x-transformers.",
    .causal_only = true,
    .extrapolates = Extrapolation::yes,
    .relative = {Relative::accumulated, "but for the first token"},
    .content_dependent = "query and key",
    .distinct = Distinct::partly,
    .distance_decay = DistanceDecay::yes,
    .cached = "a sum of scores",
};

class SelectiveAttention final : public PositionEncoding {
 public:
  using Options = NoOptions;
  SelectiveAttention(const Options&, const ModelConfig& config, ParameterLayout&) : PositionEncoding(config) {}

  void score(const AttentionInput& in, Heads& scores) const override {
    PositionEncoding::score(in, scores);
    Matrix &masked = in.scratch(1, in.length()), &selected = in.scratch(1, in.length());
    masked.setZero();  // F(i, .) of the current row
    for (Index i = 0; i < in.length(); ++i) {
      selected.leftCols(i) = scores[0].row(i).head(i).cwiseMax(Real(0));
      for (Matrix& head : scores) head.row(i).head(i) -= masked.leftCols(i);
      if (i > 1) masked.middleCols(1, i - 1) += selected.middleCols(1, i - 1);
    }
  }

  void score_backward(const AttentionInput& in, const Heads& d_scores, AttentionGradient& d) const override {
    const Index T = in.length();
    Matrix &selector = in.scratch(T, T), &d_selector = in.scratch(T, T), &d_masked = in.scratch(1, T);
    dot_product(in.q[0], in.k[0], scale(), /*causal=*/true, selector);
    d_selector = d_scores[0];
    d_masked
        .setZero();  // the gradient of F(t + 1, .) + F(t + 2, .) + ..., which all contain the selection of row t
    for (Index t = T - 1; t > 1; --t) {
      const auto selected = selector.row(t).segment(1, t - 1).array();
      d_selector.row(t).segment(1, t - 1).array() +=
          (selected > Real(0)).select(d_masked.row(0).segment(1, t - 1).array(), Real(0));
      for (const Matrix& head : d_scores) d_masked.leftCols(t) -= head.row(t).head(t);
    }
    dot_product_backward(in.q[0], in.k[0], scale(), /*causal=*/true, d_selector, d.q[0], d.k[0]);
    for (size_t h = 1; h < d_scores.size(); ++h) {
      dot_product_backward(in.q[h], in.k[h], scale(), /*causal=*/true, d_scores[h], d.q[h], d.k[h]);
    }
  }
};

const RegisterEncoding<SelectiveAttention> registered{kInfo};

}  // namespace
}  // namespace posbench::selective_attn
