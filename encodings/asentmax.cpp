// ASEntmax, adaptive-scalable entmax: entmax attention whose scores each query sharpens by its own power of the
// logarithm of the number of keys.
//
//   attention(i, .) = alpha-entmax over j of f_h(i) z_h(i, j), z the base's scores
//   f_h(i)          = 1 + beta_h(i) (log n_i)^gamma_h(i),   n_i one more than the keys that query i sees
//   beta_h(i)       = softplus(x_i . b_h),   gamma_h(i) = r tanh(x_i . g_h)
//
// Vasylenko et al. 2025, arXiv:2506.16640; deep-spin/asentmax, with alpha = 1.5 and r = 2 and NAPE as its base.
// Over NAPE only the heads without a penalty are scaled, as there: f = 1 in the others. b and g of each layer
// start as N(0, 0.02).
#include <cmath>

#include "encodings/parts/entmax_rows.h"
#include "encodings/parts/scaled_scores.h"
#include "encodings/registry.h"
#include "model/attention.h"
#include "model/layers.h"
#include "model/product.h"

namespace posbench {
namespace {

class Asentmax final : public ScaledScores {
 public:
  struct Options {
    std::string base = "nape";
    double alpha = 1.5, range = 2;
    std::string wrapped() const { return base; }
    void describe(OptionTable& o) {
      o.text("base", base, "any encoding", "the encoding whose scores are scaled and normalized");
      o.number("alpha", alpha, 1.01, 2, "1 would be the softmax; 2 is the sparsemax");
      o.number("range", range, 0.01, 100, "r: gamma lies between -r and r");
    }
  };

  Asentmax(const Options& options, const ModelShape& shape, ParameterLayout& layout)
      : ScaledScores(shape, make_encoding(Spec::parse(options.base), shape, layout)),
        alpha_(static_cast<Real>(options.alpha)),
        range_(static_cast<Real>(options.range)),
        first_(Spec::parse(options.base).name == "nape" ? shape.heads / 2 : 0) {
    const Index scaled = shape.heads - first_;
    for (int layer = 0; layer < shape.layers; ++layer) {
      betas_.push_back(layout.normal(fmt::format("asentmax.beta.{}", layer), shape.width, scaled, 0.02));
      gammas_.push_back(layout.normal(fmt::format("asentmax.gamma.{}", layer), shape.width, scaled, 0.02));
    }
  }

  Matrix& factors(const AttentionInput& in) const override {
    Matrix& factors = in.scratch(in.length(), shape_.heads);
    const auto [beta, gamma] = logits(in);
    factors.setOnes();
    for (Index i = 0; i < in.length(); ++i) {
      const double log = log_keys(in, i);  // in double, where C libraries agree once the result is rounded to a float
      for (Index h = 0; h < beta.cols(); ++h) {
        const double power = std::pow(log, range_ * std::tanh(static_cast<double>(gamma(i, h))));
        factors(i, first_ + h) += softplus(beta(i, h)) * static_cast<Real>(power);
      }
    }
    return factors;
  }
  void factors_backward(const AttentionInput& in, Matrix& d_factors, AttentionGradient& d) const override {
    const auto [beta, gamma] = logits(in);
    for (Index i = 0; i < in.length(); ++i) {
      const double log = log_keys(in, i);
      for (Index h = 0; h < beta.cols(); ++h) {
        const double b = beta(i, h), tanh = std::tanh(static_cast<double>(gamma(i, h)));
        const double power = d_factors(i, first_ + h) * std::pow(log, range_ * tanh), weight = softplus(beta(i, h));
        beta(i, h) = static_cast<Real>(power / (1 + std::exp(-b)));
        gamma(i, h) = static_cast<Real>(weight * power * std::log(log) * range_ * (1 - tanh * tanh));
      }
    }
    const Parameter &b = betas_[in.layer], &g = gammas_[in.layer];
    multiply_add(beta, in.parameters[b].transpose(), d.x);
    multiply_add(gamma, in.parameters[g].transpose(), d.x);
    multiply_add(in.x.transpose(), beta, d.parameters[b]);
    multiply_add(in.x.transpose(), gamma, d.parameters[g]);
  }

  void normalize(const AttentionInput&, const Heads& scores, Heads& attention) const override {
    entmax(scores, alpha_, shape_.causal, attention);
  }
  void normalize_backward(const AttentionInput&, const Heads&, const Heads& attention, const Heads& d_attention,
                          Heads& d_scores) const override {
    entmax_backward(attention, alpha_, shape_.causal, d_attention, d_scores);
  }
  bool keeps_scores() const override { return false; }

 private:
  Real log_keys(const AttentionInput& in, Index i) const {
    return std::log(static_cast<Real>(1 + visible(i, in.length(), shape_.causal)));
  }

  /// x b and x g (T, scaled heads).
  std::pair<Matrix&, Matrix&> logits(const AttentionInput& in) const {
    const Parameter &b = betas_[in.layer], &g = gammas_[in.layer];
    Matrix &beta = in.scratch(in.length(), b.cols), &gamma = in.scratch(in.length(), g.cols);
    multiply(in.x, in.parameters[b], beta);
    multiply(in.x, in.parameters[g], gamma);
    return {beta, gamma};
  }

  Real alpha_, range_;
  Index first_;                            // heads from this one on are scaled
  std::vector<Parameter> betas_, gammas_;  // b, g (C, scaled heads), one for each layer
};

const RegisterEncoding<Asentmax> registered{{
    .name = "asentmax",
    .family = Family::wrapper,
    .equation =
        "attention = alpha-entmax of (1 + softplus(x_i . b_h) (log n_i)^(r tanh(x_i . g_h))) z_h(i, j), z the "
        "base's scores",
    .source = "Vasylenko et al. 2025, arXiv:2506.16640; deep-spin/asentmax",
    .notes =
        "Over NAPE only the heads without a penalty are scaled. The code scales queries, we scores: over a base "
        "whose scaled heads have a bias, the bias is scaled too, as in the paper's equation.",
    .touches = "L",
    .learned = true,
    .extrapolates = Extrapolation::defined,
    .relative = Relative::no,
    .content_dependent = "query",
    .distinct = Distinct::partly,
    .distance_decay = {DistanceDecay::no, "because all far keys get 0"},
    .variants = {"alpha=2", "base=alibi", "base=rope,alpha=1.25,range=1"},
}};

}  // namespace
}  // namespace posbench
