// Normalizes with alpha-entmax instead of the softmax, so that keys with scores far below the best get no
// attention.
#include <string>

#include "encodings/parts/decorator.h"
#include "encodings/parts/entmax_rows.h"
#include "encodings/registry.h"

namespace posbench::entmax {
namespace {

const EncodingInfo kInfo{
    .name = "entmax",
    .family = Family::wrapper,
    .equation =
        "attention_h(i, j) = max((alpha - 1) z_h(i, j) - tau_i, 0)^(1 / (alpha - 1)),   z the base's scores\n"
        "tau_i is such that the row sums to 1",
    .source =
        "Correia et al. 2019, arXiv:1909.00015; Vasylenko et al. 2025, arXiv:2506.16640; "
        "deep-spin/asentmax, deep-spin/entmax",
    .notes =
        "It replaces the base's normalization. alpha is fixed, as in the second paper, which pairs entmax "
        "with NAPE (the default base); the first paper learns it. tau comes from Newton's method; the code "
        "bisects.",
    .extrapolates = Extrapolation::as_base,
    .relative = Relative::as_base,
    .content_dependent = "as its base",
    .distinct = Distinct::partly,
    .distance_decay = {DistanceDecay::no, "because all far keys get 0"},
    .variants = {"alpha=1.25", "alpha=2", "base=alibi", "base=rope"},
};

class Entmax final : public Decorator {
 public:
  struct Options {
    std::string base = "nape";
    double alpha = 1.5;
    std::string wrapped() const { return base; }
    void describe(OptionTable& o) {
      o.text("base", base, "any encoding", "encoding whose scores are normalized");
      o.number("alpha", alpha, 1.01, 2, "exponent of the entmax, more than 1, the softmax; 2: sparsemax");
    }
  };

  Entmax(const Options& options, const ModelConfig& config, ParameterLayout& layout)
      : Decorator(config, make_encoding(Spec::parse(options.base), config, layout)),
        alpha_(static_cast<Real>(options.alpha)) {}

  void normalize(const AttentionInput&, const Heads& scores, Heads& attention) const override {
    entmax_rows(scores, alpha_, config_.causal, attention);
  }
  void normalize_backward(const AttentionInput&, const Heads&, const Heads& attention, const Heads& d_attention,
                          Heads& d_scores, AttentionGradient&) const override {
    entmax_rows_backward(attention, alpha_, config_.causal, d_attention, d_scores);
  }

 private:
  Real alpha_;
};

const RegisterEncoding<Entmax> registered{kInfo};

}  // namespace
}  // namespace posbench::entmax
