// Normalizes with entmax, after each query scaled its scores by its own power of the logarithm of the number of
// keys.
#include <fmt/format.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "encodings/parts/entmax_rows.h"
#include "encodings/parts/scaled_scores.h"
#include "encodings/registry.h"
#include "model/layers.h"
#include "model/product.h"
#include "model/seen_keys.h"

namespace posbench::asentmax {
namespace {

const EncodingInfo kInfo{
    .name = "asentmax",
    .family = Family::wrapper,
    .equation =
        "attention_h(i, .) = alpha-entmax over j of f_h(i) z_h(i, j),   z the base's scores\n"
        "f_h(i) = 1 + beta_h(i) (log n_i)^gamma_h(i),   n_i one more than the keys that query i sees\n"
        "beta_h(i) = softplus(x_i . b_h),   gamma_h(i) = r tanh(x_i . g_h),   "
        "b, g (C, H) learned for each layer",
    .source = "Vasylenko et al. 2025, arXiv:2506.16640; deep-spin/asentmax",
    .notes =
        "alpha = 1.5, r = 2 and the base are those of the code. As in the code, over NAPE only the heads "
        "without a penalty are scaled; f = 1 in the others. The code scales queries, and scores are scaled "
        "here: over a base whose scaled heads have a bias, the bias is scaled too, as in the paper's "
        "equation. n_i is one more than the number of keys, as in the code, so that its logarithm is never 0. b "
        "and g start at N(0, 0.02).",
    .learned = true,
    .extrapolates = Extrapolation::defined,
    .relative = Relative::no,
    .content_dependent = "query",
    .distinct = Distinct::partly,
    .distance_decay = {DistanceDecay::no, "because all far keys get 0"},
    .variants = {"alpha=2", "base=alibi", "base=rope,alpha=1.25,range=1"},
};

class Asentmax final : public ScaledScores {
 public:
  struct Options {
    std::string base = "nape";
    double alpha = 1.5, range = 2;
    std::string wrapped() const { return base; }
    void describe(OptionTable& o) {
      o.text("base", base, "any encoding", "encoding whose scores are scaled and normalized");
      o.number("alpha", alpha, 1.01, 2, "exponent of the entmax, more than 1, the softmax; 2: sparsemax");
      o.number("range", range, 0.01, 100, "r, the largest absolute value of gamma");
    }
  };

  Asentmax(const Options& options, const ModelConfig& config, ParameterLayout& layout)
      : ScaledScores(config, make_encoding(Spec::parse(options.base), config, layout)),
        alpha_(static_cast<Real>(options.alpha)),
        range_(static_cast<Real>(options.range)),
        first_(inner().num_penalized_heads()) {
    const Index scaled = config.heads - first_;
    for (int layer = 0; layer < config.layers; ++layer) {
      betas_.push_back(layout.normal(fmt::format("asentmax.beta.{}", layer), config.width, scaled, 0.02));
      gammas_.push_back(layout.normal(fmt::format("asentmax.gamma.{}", layer), config.width, scaled, 0.02));
    }
  }

  Matrix& factors(const AttentionInput& in) const override {
    Matrix& factors = in.scratch(in.length(), config_.heads);
    const auto [beta, gamma] = logits(in);
    factors.setOnes();
    for (Index i = 0; i < in.length(); ++i) {
      // C libraries agree on the power in double precision after it is rounded to a float.
      const double log = log_keys(in, i);
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
        const double power = d_factors(i, first_ + h) * std::pow(log, range_ * tanh),
                     weight = softplus(beta(i, h));
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
    entmax_rows(scores, alpha_, config_.causal, attention);
  }
  void normalize_backward(const AttentionInput&, const Heads&, const Heads& attention, const Heads& d_attention,
                          Heads& d_scores, AttentionGradient&) const override {
    entmax_rows_backward(attention, alpha_, config_.causal, d_attention, d_scores);
  }

 private:
  Real log_keys(const AttentionInput& in, Index i) const {
    return std::log(static_cast<Real>(1 + num_keys_in_window(config_, i, in.length())));
  }

  /// Returns x b and x g (T, scaled heads).
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

const RegisterEncoding<Asentmax> registered{kInfo};

}  // namespace
}  // namespace posbench::asentmax
