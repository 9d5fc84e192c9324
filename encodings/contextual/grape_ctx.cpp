// GRAPE with a contextual phase: RoPE with learned frequencies, whose positions advance by a step for each token.
#include <fmt/format.h>

#include <cmath>
#include <utility>
#include <vector>

#include "encodings/parts/contextual_rotary.h"
#include "encodings/registry.h"
#include "model/layers.h"
#include "model/numeric.h"
#include "model/product.h"

namespace posbench::grape_ctx {
namespace {

const EncodingInfo kInfo{
    .name = "grape_ctx",
    .family = Family::contextual,
    .equation =
        "score_h(i, j) = R(Phi_i) q_i . R(Phi_j) k_j / sqrt(D),   R(p) rotates pair n by p exp(l_n)\n"
        "Phi_t         = omega_0 + ... + omega_(t-1), without t itself\n"
        "omega_t       = sigmoid((w . x_t + b) / 16), or softplus(w . x_t + b) with gate=softplus",
    .source = "Zhang et al. 2025, arXiv:2512.07805; model-architectures/GRAPE",
    .notes =
        "All heads have one phase. w starts at N(0, 0.5 C^-0.5), l at the logarithms of RoPE's frequencies. "
        "The code's comments and its start b = log(exp(0.001) - 1) are those of the softplus, near 0.001; with "
        "the sigmoid, which the code computes, omega starts near 0.39. The code rotates the other way and "
        "normalizes queries and keys, which is left out.",
    .causal_only = true,
    .learned = true,
    .extrapolates = Extrapolation::defined,
    .relative = Relative::accumulated,
    .content_dependent = "token",
    .variants = {"gate=softplus"},
};

enum class Gate { sigmoid, softplus };
constexpr Real kSharpness = 16;

class GrapeContextual final : public ContextualRotary {
 public:
  struct Options {
    Gate gate = Gate::sigmoid;
    double base = 10000;
    void describe(OptionTable& o) {
      o.choice("gate", gate, {"sigmoid", "softplus"},
               "step of a token: sigmoid(s / 16), as in the code, or softplus(s)");
      o.number("base", base, 1.001, 1e9, "base of RoPE's frequencies, which are the initial frequencies");
    }
  };

  GrapeContextual(const Options& options, const ModelConfig& config, ParameterLayout& layout)
      : ContextualRotary(config, Pairing::half_split, "grape_ctx"), gate_(options.gate) {
    const std::vector<double> frequencies = rope_frequencies(config.head_width(), options.base);
    for (int layer = 0; layer < config.layers; ++layer) {
      const auto name = [&](const char* part) { return fmt::format("grape_ctx.{}.{}", part, layer); };
      weights_.push_back(layout.normal(name("weight"), config.width, 1, 0.5 / std::sqrt(config.width)));
      biases_.push_back(layout.constant(name("bias"), 1, 1, std::log(std::expm1(1e-3))));
      log_frequencies_.push_back(layout.add(
          name("log_frequencies"), 1, pairs(),
          [frequencies](Rng&, Index, Index n) { return std::log(frequencies[static_cast<size_t>(n)]); }));
    }
  }

  const Matrix& angles(const AttentionInput& in) const override {
    Matrix &phases = in.scratch(in.length(), 1), &angles = in.scratch(in.length(), pairs());
    compute_phases(in, phases);
    multiply(phases, frequencies(in), angles);
    return angles;
  }

  void angles_backward(const AttentionInput& in, Matrix& d_angles, AttentionGradient& d) const override {
    Matrix &phases = in.scratch(in.length(), 1), &d_steps = in.scratch(in.length(), 1);
    compute_phases(in, phases);
    const Matrix& frequencies = this->frequencies(in);
    Matrix& d_frequencies = in.scratch(1, pairs());
    multiply(phases.transpose(), d_angles, d_frequencies);
    d.parameters[log_frequencies_[in.layer]].array() += d_frequencies.array() * frequencies.array();

    multiply(d_angles, frequencies.transpose(), d_steps);
    Real later = 0;  // the step of t is a term of the phases after t
    for (Index t = in.length() - 1; t >= 0; --t) later += std::exchange(d_steps(t, 0), later);
    Matrix& gates = phases;
    compute_logits(in, gates);
    if (gate_ == Gate::sigmoid) {
      auto g = gates.array();
      gates /= kSharpness;
      sigmoid(gates, gates);
      g = g * (1 - g) / kSharpness;
    } else {
      sigmoid(gates, gates);
    }
    d_steps.array() *= gates.array();  // the gradient of the logits
    multiply_add(d_steps, in.parameters[weights_[in.layer]].transpose(), d.x);
    multiply_add(in.x.transpose(), d_steps, d.parameters[weights_[in.layer]]);
    d.parameters[biases_[in.layer]](0, 0) += sum(d_steps);
  }

 private:
  void compute_logits(const AttentionInput& in, Matrix& logits) const {
    multiply(in.x, in.parameters[weights_[in.layer]], logits);
    logits.array() += in.parameters[biases_[in.layer]](0, 0);
  }

  /// (1, D / 2)
  const Matrix& frequencies(const AttentionInput& in) const {
    Matrix& frequencies = in.scratch(1, pairs());
    exponential(in.parameters[log_frequencies_[in.layer]], frequencies);
    return frequencies;
  }

  void compute_phases(const AttentionInput& in, Matrix& phases) const {
    compute_logits(in, phases);
    if (gate_ == Gate::sigmoid) {
      phases /= kSharpness;
      sigmoid(phases, phases);
    } else {
      softplus(phases, phases);
    }
    Real sum = 0;  // without the token's own step
    for (Index t = 0; t < in.length(); ++t) sum += std::exchange(phases(t, 0), sum);
  }

  Gate gate_;
  std::vector<Parameter> weights_, biases_, log_frequencies_;  // (C, 1), (1, 1), (1, D / 2), one for each layer
};

const RegisterEncoding<GrapeContextual> registered{kInfo};

}  // namespace
}  // namespace posbench::grape_ctx
