// FoX, the forgetting transformer: every token has a forget gate for each head, which decays all tokens before it.
#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "base/error.h"
#include "encodings/aliases.h"
#include "encodings/parts/forget_gate.h"
#include "encodings/registry.h"
#include "model/layers.h"

namespace posbench::fox {
namespace {

const EncodingInfo kInfo{
    .name = "fox",
    .family = Family::contextual,
    .equation =
        "score_h(i, j) = q_i . k_j / sqrt(D) + F_i - F_j\n"
        "F_t           = sum over s <= t of log f_s,   f_t = sigmoid(w_h . x_t + b_h)",
    .source = "Lin et al. 2025, arXiv:2503.02130; zhixuan-lin/forgetting-transformer",
    .notes =
        "w starts at N(0, 0.02) and b at 0, so that the past halves with every token; set bias=3 to 6 for far "
        "lookups. The paper's \"pro\" block (token shift, norms, output gate) is another architecture and is "
        "left out. data_independent=true learns b alone, so that each head has one time constant: -1 / log f_h "
        "starts at times spread geometrically from `shortest` to `longest` tokens. The code leaves these two "
        "bounds open; 2 and 128 are choices of posbench.",
    .causal_only = true,
    .learned = true,
    .extrapolates = Extrapolation::yes,
    .relative = Relative::accumulated,
    .content_dependent = "token",
    .distance_decay = DistanceDecay::yes,
    .kernel = Kernel::score_modifier,
    .cached = "H sums of logarithms of gates",
    .variants = {"bias=4", "data_independent=true"},
};

class Fox final : public PositionEncoding {
 public:
  struct Options {
    double bias = 0;
    bool data_independent = false;
    double shortest = 2, longest = 128;
    void describe(OptionTable& o) {
      o.number("bias", bias, -20, 20, "initial b; a gate starts at sigmoid(b), and 3 to 6 remember longer");
      o.flag("data_independent", data_independent, "learned b without w, one decay for each head");
      o.number("shortest", shortest, 0.01, 1e9,
               "tokens after which the first head has forgotten all but 1/e, with data_independent");
      o.number("longest", longest, 0.01, 1e9, "the same for the last head");
    }
  };

  Fox(const Options& options, const ModelConfig& config, ParameterLayout& layout) : PositionEncoding(config) {
    const Options defaults;
    if (options.data_independent ? options.bias != defaults.bias
                                 : options.shortest != defaults.shortest || options.longest != defaults.longest) {
      throw InputError(
          "encoding 'fox': bias is for gates that depend on x, shortest and longest are for "
          "data_independent=true");
    }
    if (!options.data_independent) {
      gate_.emplace_back("fox", Real(1), options.bias, config, layout);
      return;
    }
    const double ratio = options.longest / options.shortest;
    for (int layer = 0; layer < config.layers; ++layer) {
      biases_.push_back(
          layout.add(fmt::format("fox.gate.{}.bias", layer), 1, config.heads, [=](Rng&, Index, Index h) {
            const double exponent = config.heads == 1 ? 0 : static_cast<double>(h) / (config.heads - 1);
            return -std::log(std::expm1(1 / (options.shortest * std::pow(ratio, exponent))));
          }));
    }
  }

  /// If the gates do not depend on the tokens, the values are F (H, T) for each layer.
  void tables(const Parameters& p, const Positions& positions, Tables& tables) const override {
    tables.values.resize(biases_.size());
    for (size_t layer = 0; layer < biases_.size(); ++layer) {
      Matrix& levels = tables.values[layer];
      levels.resize(config_.heads, positions.size());
      for (Index h = 0; h < config_.heads; ++h) {
        const Real log_gate = -softplus(-p[biases_[layer]](0, h));
        for (Index t = 0; t < positions.size(); ++t) levels(h, t) = static_cast<Real>(t + 1) * log_gate;
      }
    }
  }
  void tables_backward(const Parameters& p, const Positions& positions, const Tables&, const Matrices& d_levels,
                       Gradients& d) const override {
    for (size_t layer = 0; layer < biases_.size(); ++layer) {
      for (Index h = 0; h < config_.heads; ++h) {
        Real d_log_gate = 0;
        for (Index t = 0; t < positions.size(); ++t)
          d_log_gate += static_cast<Real>(t + 1) * d_levels[layer](h, t);
        d[biases_[layer]](0, h) += d_log_gate / (1 + std::exp(p[biases_[layer]](0, h)));
      }
    }
  }

  void score(const AttentionInput& in, Heads& scores) const override {
    PositionEncoding::score(in, scores);
    if (gate_.empty()) {
      add_differences(in.tables.values[in.layer].leftCols(in.length()), 1, scores);
    } else {
      gate_[0].add(in, 1, scores);
    }
  }
  void score_backward(const AttentionInput& in, const Heads& d_scores, AttentionGradient& d) const override {
    PositionEncoding::score_backward(in, d_scores, d);
    if (gate_.empty()) {
      add_differences_backward(1, d_scores, d.tables[in.layer].leftCols(in.length()));
    } else {
      gate_[0].add_backward(in, 1, d_scores, d);
    }
  }

 private:
  std::vector<ForgetGate> gate_;   // one, or none if the gates are data-independent
  std::vector<Parameter> biases_;  // (1, H) for each layer if the gates are data-independent
};

const RegisterEncoding<Fox> registered{kInfo};
const RegisterAliases aliases{kInfo.name, {"forgetting_transformer"}};

}  // namespace
}  // namespace posbench::fox
