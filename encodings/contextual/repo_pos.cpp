// RePo, context re-positioning: each head predicts a token's position from its content, and RoPE rotates by it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "encodings/parts/contextual_rotary.h"
#include "encodings/registry.h"
#include "model/numeric.h"
#include "model/product.h"

namespace posbench::repo_pos {
namespace {

const EncodingInfo kInfo{
    .name = "repo_pos",
    .family = Family::contextual,
    .equation =
        "score_h(i, j) = R(u_h(i)) q_i . R(u_h(j)) k_j / sqrt(D),   R(p) rotates pair n by p base^(-2 n / D)\n"
        "u_h(t)        = (1 - blend) p_h(t) + blend t in the layers from first_layer on, and t below\n"
        "p(t)          = W3 (silu(W1 x_t) * (W2 x_t)),   C -> max(1, C / 8) -> H, no biases",
    .source = "arXiv:2512.14391 (2025); SakanaAI/repo",
    .notes =
        "Positions are not accumulated: where all layers predict them, which is the default with fewer than "
        "four layers, only the causal mask tells orders apart. The code starts at layer 5 of 16, and the "
        "default is the same fraction of the layers. The initial weights, N(0, 1 / inputs), are a choice of "
        "posbench.",
    .permutation_invariant = true,
    .learned = true,
    .extrapolates = Extrapolation::yes,
    .relative = Relative::between_predicted_positions,
    .content_dependent = "token",
    .distinct = Distinct::no,
    .variants = {"blend=0.3", "first_layer=1"},
};

class RepoPositions final : public ContextualRotary {
 public:
  struct Options {
    int first_layer = -1;
    double blend = 0, base = 10000;
    void describe(OptionTable& o) {
      o.integer("first_layer", first_layer, -1, 1000,
                "first layer that predicts positions, from 0; -1: 5/16 of the layers");
      o.number("blend", blend, 0, 1, "fraction of the token's index in its position");
      o.number("base", base, 1.001, 1e9,
               "base of RoPE's frequencies; its slowest pair turns once in about 2 pi base positions");
    }
  };

  RepoPositions(const Options& options, const ModelConfig& config, ParameterLayout& layout)
      : ContextualRotary(config, Pairing::half_split, "repo_pos"),
        first_layer_(options.first_layer >= 0 ? options.first_layer : 5 * config.layers / 16),
        blend_(static_cast<Real>(options.blend)) {
    if (first_layer_ >= config.layers) {
      throw InputError(fmt::format(
          "encoding 'repo_pos': first_layer is {}, expected up to {}, the last layer, so that one predicts positions",
          first_layer_, config.layers - 1));
    }
    for (const double w : rope_frequencies(config.head_width(), options.base)) {
      frequencies_.push_back(static_cast<Real>(w));
    }
    const Index C = config.width, inner = std::max<Index>(1, C / 8);
    const auto weight = [&](const char* part, int layer, Index inputs, Index outputs) {
      return layout.normal(fmt::format("repo_pos.{}.{}", part, layer), inputs, outputs, 1 / std::sqrt(inputs));
    };
    for (int layer = first_layer_; layer < config.layers; ++layer) {
      layers_.push_back({weight("gate", layer, C, inner), weight("content", layer, C, inner),
                         weight("out", layer, inner, config.heads)});
    }
  }

  const Matrix& angles(const AttentionInput& in) const override {
    const Index T = in.length();
    const bool predicted = in.layer >= first_layer_;
    Matrix &positions = in.scratch(T, predicted ? config_.heads : 1),
           &angles = in.scratch(T, positions.cols() * pairs());
    if (predicted) {
      const Steps s = steps(in);
      multiply(s.inner, in.parameters[weights(in).out], positions, (1 - blend_));
    } else {
      positions.setZero();
    }
    const Real weight = predicted ? blend_ : 1;
    for (Index t = 0; t < T; ++t) {
      Real* angle = angles.row(t).data();
      for (Index h = 0; h < positions.cols(); ++h) {
        const Real position = positions(t, h) + weight * in.sequence.positions.at[t];
        for (const Real w : frequencies_) *angle++ = position * w;
      }
    }
    return angles;
  }

  void angles_backward(const AttentionInput& in, Matrix& d_angles, AttentionGradient& d) const override {
    if (in.layer < first_layer_) return;
    const Index T = in.length();
    const Layer& w = weights(in);
    const Steps s = steps(in);
    Matrix &d_positions = in.scratch(T, config_.heads), &d_inner = in.scratch(T, s.inner.cols());
    Matrix& d_gate = in.scratch(T, s.inner.cols());
    for (Index t = 0; t < T; ++t) {
      const Real* d_angle = d_angles.row(t).data();
      for (Index h = 0; h < config_.heads; ++h) {
        Real sum = 0;
        for (const Real frequency : frequencies_) sum += *d_angle++ * frequency;
        d_positions(t, h) = (1 - blend_) * sum;
      }
    }
    multiply(d_positions, in.parameters[w.out].transpose(), d_inner);
    multiply_add(s.inner.transpose(), d_positions, d.parameters[w.out]);

    const auto g = s.gate.array(), sigma = s.sigma.array(), u = s.content.array();
    d_gate.array() = d_inner.array() * u * sigma * (1 + g * (1 - sigma));  // silu' = sigma (1 + g (1 - sigma))
    d_inner.array() *= g * sigma;                                          // the gradient of the content
    multiply_add(d_gate, in.parameters[w.gate].transpose(), d.x);
    multiply_add(d_inner, in.parameters[w.content].transpose(), d.x);
    multiply_add(in.x.transpose(), d_gate, d.parameters[w.gate]);
    multiply_add(in.x.transpose(), d_inner, d.parameters[w.content]);
  }

 private:
  struct Layer {
    Parameter gate, content, out;  // W1, W2 (C, C / 8), W3 (C / 8, H)
  };
  struct Steps {
    Matrix &gate, &content, &sigma, &inner;  // (T, C / 8): W1 x, W2 x, sigmoid(W1 x), silu(W1 x) * (W2 x)
  };

  const Layer& weights(const AttentionInput& in) const { return layers_[in.layer - first_layer_]; }

  Steps steps(const AttentionInput& in) const {
    const Layer& w = weights(in);
    const auto matrix = [&]() -> Matrix& { return in.scratch(in.length(), w.gate.cols); };
    const Steps s{matrix(), matrix(), matrix(), matrix()};
    multiply(in.x, in.parameters[w.gate], s.gate);
    multiply(in.x, in.parameters[w.content], s.content);
    sigmoid(s.gate, s.sigma);
    s.inner.array() = s.gate.array() * s.sigma.array() * s.content.array();
    return s;
  }

  int first_layer_;
  Real blend_;
  std::vector<Real> frequencies_;  // (D / 2) radians per position
  std::vector<Layer> layers_;      // from first_layer on
};

const RegisterEncoding<RepoPositions> registered{kInfo};

}  // namespace
}  // namespace posbench::repo_pos
