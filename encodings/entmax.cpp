// Entmax attention: alpha-entmax instead of the softmax, over any encoding, so that keys whose scores are far below
// the best get no attention at all.
//
//   attention(i, j) = max((alpha - 1) z(i, j) - tau_i, 0)^(1 / (alpha - 1)), tau_i such that the row sums to 1
//
// z: the base's scores. Correia et al. 2019, arXiv:1909.00015; Vasylenko et al. 2025, arXiv:2506.16640, which
// pairs it with NAPE (the default base); deep-spin/asentmax, deep-spin/entmax. alpha is fixed.
#include "encodings/parts/decorator.h"
#include "encodings/parts/entmax_rows.h"
#include "encodings/registry.h"

namespace posbench {
namespace {

class Entmax final : public Decorator {
 public:
  struct Options {
    std::string base = "nape";
    double alpha = 1.5;
    std::string wrapped() const { return base; }
    void describe(OptionTable& o) {
      o.text("base", base, "any encoding", "the encoding whose scores are normalized");
      o.number("alpha", alpha, 1.01, 2, "1 would be the softmax; 2 is the sparsemax");
    }
  };

  Entmax(const Options& options, const ModelShape& shape, ParameterLayout& layout)
      : Decorator(shape, make_encoding(Spec::parse(options.base), shape, layout)),
        alpha_(static_cast<Real>(options.alpha)) {}

  void normalize(const AttentionInput&, const Heads& scores, Heads& attention) const override {
    entmax(scores, alpha_, shape_.causal, attention);
  }
  void normalize_backward(const AttentionInput&, const Heads&, const Heads& attention, const Heads& d_attention,
                          Heads& d_scores) const override {
    entmax_backward(attention, alpha_, shape_.causal, d_attention, d_scores);
  }
  bool keeps_scores() const override { return false; }

 private:
  Real alpha_;
};

const RegisterEncoding<Entmax> registered{{
    .name = "entmax",
    .family = Family::wrapper,
    .equation = "attention(i, j) = max((alpha - 1) z(i, j) - tau_i, 0)^(1 / (alpha - 1)), z the base's scores",
    .source = "Correia et al. 2019, arXiv:1909.00015; Vasylenko et al. 2025, arXiv:2506.16640; deep-spin/asentmax",
    .notes =
        "Replaces the base's normalization. alpha is fixed, as in the second paper; the first learns "
        "it. tau comes from Newton's method, where the code bisects.",
    .touches = "L",
    .extrapolates = Extrapolation::as_base,
    .relative = Relative::as_base,
    .content_dependent = "as its base",
    .distinct = Distinct::partly,
    .distance_decay = {DistanceDecay::no, "because all far keys get 0"},
    .variants = {"alpha=1.25", "alpha=2", "base=alibi", "base=rope"},
}};

}  // namespace
}  // namespace posbench
