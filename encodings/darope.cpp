// DaRoPE: RoPE whose slow pairs use a bounded position, learned from content and index, which stays in range at any
// length.
//
//   score_h(i, j) = R_h(i) q_i . R_h(j) k_j / sqrt(D)
//   R_h(t)        rotates pair n by t w_n where w_n >= 2 pi / L, else by c_h(t) w_n;   w_n = base^(-2 n / D)
//   c_h(t)        = L sigmoid(w_h . x_t + alpha_h beta_t),   beta_t = logit(clip(t + 0.5, eps L, (1 - eps) L) / L)
//
// eps = 1e-6. w_h (C) starts at N(0, 0.1), alpha_h at 0.5, both of each layer; w = 0 and alpha = 1 give RoPE with
// t + 0.5. Levy, Videau et al. 2026, arXiv:2609.34556; no code was found. L: the trained length. The pairing
// (interleaved) is ours.
#include <numbers>

#include "encodings/parts/contextual_rotary.h"
#include "encodings/registry.h"
#include "model/numeric.h"
#include "model/product.h"

namespace posbench {
namespace {

class Darope final : public ContextualRotary {
 public:
  struct Options {
    int length = 0;
    double base = 10000;
    void describe(OptionTable& o) {
      o.integer("length", length, 0, 1 << 20, "L: slow pairs, and their range; 0: the trained length");
      o.number("base", base, 1.001, 1e9, "the slowest pair of RoPE turns once in about 2 pi base positions");
    }
  };

  Darope(const Options& options, const ModelShape& shape, ParameterLayout& layout)
      : ContextualRotary(shape, Pairing::interleaved, "darope"),
        length_(options.length > 0 ? options.length : shape.trained_length),
        frequencies_(rope_frequencies(shape.head_width(), options.base)) {
    for (const double w : frequencies_) fast_ += w >= 2 * std::numbers::pi / length_;
    for (int layer = 0; layer < shape.layers; ++layer) {
      weights_.push_back(layout.normal(fmt::format("darope.weight.{}", layer), shape.width, shape.heads, 0.1));
      alphas_.push_back(layout.constant(fmt::format("darope.alpha.{}", layer), 1, shape.heads, 0.5));
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
    Matrix &fractions = in.scratch(in.length(), shape_.heads),
           &angles = in.scratch(in.length(), shape_.heads * pairs());
    this->fractions(in, fractions);
    for (size_t h = 0; h < in.q.size(); ++h) {
      auto angle = of_head(angles, h);
      angle.leftCols(fast_) = in.tables.constants<Constants>().fast_angles.topRows(in.length());
      for (Index n = fast_; n < pairs(); ++n) angle.col(n) = full_angle(n) * fractions.col(static_cast<Index>(h));
    }
    return angles;
  }

  void angles_backward(const AttentionInput& in, Matrix& d_angles, AttentionGradient& d) const override {
    Matrix &fractions = in.scratch(in.length(), shape_.heads), &d_logits = in.scratch(in.length(), shape_.heads);
    this->fractions(in, fractions);
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

  /// The angle of pair n where c = L.
  Real full_angle(Index n) const { return static_cast<Real>(length_ * frequencies_[n]); }

  /// fractions (T, H) = c / L
  void fractions(const AttentionInput& in, Matrix& fractions) const {
    multiply(in.x, in.parameters[weights_[in.layer]], fractions);
    multiply_add(betas(in), in.parameters[alphas_[in.layer]], fractions);
    sigmoid(fractions, fractions);
  }

  double length_;                            // L
  std::vector<double> frequencies_;          // (D / 2) radians a position
  Index fast_ = 0;                           // the leading pairs that keep RoPE
  std::vector<Parameter> weights_, alphas_;  // (C, H), (1, H), one for each layer
};

const RegisterEncoding<Darope> registered{{
    .name = "darope",
    .family = Family::contextual,
    .equation = "score(i, j) = R(i) q_i . R(j) k_j / sqrt(D),   slow pairs turn by c(t) w_n, c(t) = L sigmoid(w . "
                "x_t + alpha "
                "logit((t + 0.5) / L))",
    .source = "Levy, Videau et al. 2026, arXiv:2609.34556",
    .notes = "No code was found. Slow pairs stay in range at any length, fast ones are RoPE's. Only the fast pairs "
             "depend on distance alone: a shift of the sequence changes "
             "differences of learned positions. The pairing is ours.",
    .touches = "R P",
    .learned = true,
    .extrapolates = Extrapolation::defined,
    .relative = Relative::between_learned_positions,
    .content_dependent = "token",
    .variants = {"length=1000", "length=7,base=10"},
}};

}  // namespace
}  // namespace posbench
