// DaRoPE: RoPE whose slow pairs use a bounded position, learned from content and index, which stays in range at
// any length.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "encodings/parts/contextual_rotary.h"
#include "encodings/registry.h"
#include "model/numeric.h"
#include "model/product.h"

namespace posbench::darope {
namespace {

const EncodingInfo kInfo{
    .name = "darope",
    .family = Family::contextual,
    .equation =
        "score_h(i, j) = R_h(i) q_i . R_h(j) k_j / sqrt(D)\n"
        "R_h(t)        rotates pair n by t w_n if w_n >= 2 pi / L, else by c_h(t) w_n;   w_n = base^(-2 n / D)\n"
        "c_h(t)        = L sigmoid(w_h . x_t + alpha_h beta_t)\n"
        "beta_t        = logit(clip(t + 0.5, eps L, (1 - eps) L) / L),   eps = 1e-6",
    .source = "Levy, Videau et al. 2026, arXiv:2609.34556",
    .notes =
        "No code was found. w_h starts at N(0, 0.1) and alpha_h at 0.5, both for each layer; w = 0 and alpha = "
        "1 give RoPE with t + 0.5. Only the fast pairs depend on distance alone: a shift of the sequence "
        "changes differences of learned positions. The pairing (interleaved) is a choice of posbench.",
    .learned = true,
    .extrapolates = Extrapolation::defined,
    .relative = Relative::between_learned_positions,
    .content_dependent = "token",
    .variants = {"length=1000", "length=7,base=10"},
};

class Darope final : public ContextualRotary {
 public:
  struct Options {
    int length = 0;
    double base = 10000;
    void describe(OptionTable& o) {
      o.integer("length", length, 0, 1 << 20, "L, the range of the slow pairs' positions; 0: the trained length");
      o.number("base", base, 1.001, 1e9,
               "base of RoPE's frequencies; its slowest pair turns once in about 2 pi base positions");
    }
  };

  Darope(const Options& options, const ModelConfig& config, ParameterLayout& layout)
      : ContextualRotary(config, Pairing::interleaved, "darope"),
        length_(options.length > 0 ? options.length : config.trained_length),
        frequencies_(rope_frequencies(config.head_width(), options.base)) {
    for (const double w : frequencies_) fast_ += w >= 2 * std::numbers::pi / length_;
    for (int layer = 0; layer < config.layers; ++layer) {
      weights_.push_back(layout.normal(fmt::format("darope.weight.{}", layer), config.width, config.heads, 0.1));
      alphas_.push_back(layout.constant(fmt::format("darope.alpha.{}", layer), 1, config.heads, 0.5));
    }
  }

  void tables(const Parameters&, const Positions& positions, Tables& tables) const override {
    auto& [betas, fast_angles] = tables.constants<Constants>();
    betas.resize(positions.size(), 1);
    fast_angles.resize(positions.size(), fast_);
    for (Index t = 0; t < positions.size(); ++t) {
      const double at = static_cast<double>(positions.at[t]);
      const double fraction = std::clamp((at + 0.5) / length_, kMargin, 1 - kMargin);
      betas(t, 0) = static_cast<Real>(std::log(fraction / (1 - fraction)));
      for (Index n = 0; n < fast_; ++n) fast_angles(t, n) = static_cast<Real>(at * frequencies_[n]);
    }
  }

  const Matrix& angles(const AttentionInput& in) const override {
    Matrix &fractions = in.scratch(in.length(), config_.heads),
           &angles = in.scratch(in.length(), config_.heads * pairs());
    compute_fractions(in, fractions);
    for (size_t h = 0; h < in.q.size(); ++h) {
      auto angle = of_head(angles, h);
      angle.leftCols(fast_) = in.tables.constants<Constants>().fast_angles.topRows(in.length());
      for (Index n = fast_; n < pairs(); ++n) angle.col(n) = full_angle(n) * fractions.col(static_cast<Index>(h));
    }
    return angles;
  }

  void angles_backward(const AttentionInput& in, Matrix& d_angles, AttentionGradient& d) const override {
    Matrix &fractions = in.scratch(in.length(), config_.heads), &d_logits = in.scratch(in.length(), config_.heads);
    compute_fractions(in, fractions);
    d_logits.setZero();
    for (size_t h = 0; h < in.q.size(); ++h) {
      const auto d_angle = of_head(d_angles, h);
      for (Index n = fast_; n < pairs(); ++n)
        d_logits.col(static_cast<Index>(h)) += full_angle(n) * d_angle.col(n);
    }
    d_logits.array() *= fractions.array() * (1 - fractions.array());
    multiply_add(d_logits, in.parameters[weights_[in.layer]].transpose(), d.x);
    multiply_add(in.x.transpose(), d_logits, d.parameters[weights_[in.layer]]);
    multiply_add(betas(in).transpose(), d_logits, d.parameters[alphas_[in.layer]]);
  }

 private:
  static constexpr double kMargin = 1e-6;  // eps

  struct Constants {
    Matrix betas, fast_angles;  // (T, 1), (T, fast)
  };
  static In betas(const AttentionInput& in) { return in.tables.constants<Constants>().betas.topRows(in.length()); }

  /// Returns the angle of pair n for c = L.
  Real full_angle(Index n) const { return static_cast<Real>(length_ * frequencies_[n]); }

  /// fractions (T, H) = c / L
  void compute_fractions(const AttentionInput& in, Matrix& fractions) const {
    multiply(in.x, in.parameters[weights_[in.layer]], fractions);
    multiply_add(betas(in), in.parameters[alphas_[in.layer]], fractions);
    sigmoid(fractions, fractions);
  }

  double length_;                            // L
  std::vector<double> frequencies_;          // (D / 2) radians per position
  Index fast_ = 0;                           // number of leading pairs that keep RoPE's angles
  std::vector<Parameter> weights_, alphas_;  // (C, H), (1, H), one for each layer
};

const RegisterEncoding<Darope> registered{kInfo};

}  // namespace
}  // namespace posbench::darope
