// Rotates queries and keys as RoPE does, with learned frequencies.
#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "encodings/parts/contextual_rotary.h"
#include "encodings/registry.h"
#include "model/numeric.h"

namespace posbench::grape_m {
namespace {

const EncodingInfo kInfo{
    .name = "grape_m",
    .family = Family::rotary,
    .equation =
        "score_h(i, j) = R(p_i) q_i . R(p_j) k_j / sqrt(D),   R(p) rotates pair n by p exp(l_n / slowness)\n"
        "l (D / 2) learned for each layer, or (H, D / 2) with per_head=true",
    .source = "Zhang et al. 2025, arXiv:2512.07805, section 3.1; model-architectures/GRAPE",
    .notes =
        "This is the commuting form on the coordinate planes, which the code trains, without context. l "
        "starts where the frequencies are RoPE's. The slowness of 16 slows Adam, whose steps do not depend "
        "on the size of a gradient. The code rotates in the other direction, which is the same model with one "
        "component of each pair of queries and keys negated. By default the code normalizes queries and keys "
        "after the rotation; model.qk_norm=true does it before.",
    .learned = true,
    .takes_positions = TakesPositions::positions,
    .extrapolates = Extrapolation::defined,
    .relative = Relative::yes,
    .content_dependent = "no",
    .variants = {"per_head=true,slowness=1"},
};

class GrapeM final : public ContextualRotary {
 public:
  struct Options {
    double base = 10000, slowness = 16;
    bool per_head = false;
    void describe(OptionTable& o) {
      o.number("base", base, 1.001, 1e9, "base of the initial frequencies, which are RoPE's");
      o.number("slowness", slowness, 0.01, 1e4, "factor of the logarithms of frequencies, as they are learned");
      o.flag("per_head", per_head, "separate frequencies for each head");
    }
  };

  GrapeM(const Options& options, const ModelConfig& config, ParameterLayout& layout)
      : ContextualRotary(config, Pairing::half_split, "grape_m"), slowness_(options.slowness) {
    const std::vector<double> frequencies = rope_frequencies(config.head_width(), options.base);
    for (int layer = 0; layer < config.layers; ++layer) {
      logs_.push_back(layout.no_decay(
          layout.add(fmt::format("grape_m.log_frequencies.{}", layer), options.per_head ? config.heads : 1,
                     pairs(), [frequencies, this](Rng&, Index, Index n) {
                       return slowness_ * std::log(frequencies[static_cast<size_t>(n)]);
                     })));
    }
  }

  /// The values are the angles of each layer, (T, D / 2), or (T, H D / 2) head by head.
  void tables(const Parameters& p, const Positions& positions, Tables& tables) const override {
    resize(tables.values, config_.layers, positions.size(), logs_[0].size());
    for (size_t layer = 0; layer < tables.values.size(); ++layer) {
      for (Index t = 0; t < positions.size(); ++t) {
        for (Index n = 0; n < logs_[layer].size(); ++n)
          tables.values[layer](t, n) = positions.at[t] * frequency(p, layer, n);
      }
    }
  }
  void tables_backward(const Parameters&, const Positions&, const Tables& tables, const Matrices& d_tables,
                       Gradients& d) const override {
    for (size_t layer = 0; layer < tables.values.size(); ++layer) {
      for (Index n = 0; n < logs_[layer].size(); ++n) {
        d[logs_[layer]].data()[n] +=
            dot(d_tables[layer].col(n), tables.values[layer].col(n)) / static_cast<Real>(slowness_);
      }
    }
  }

  const Matrix& angles(const AttentionInput& in) const override {
    Matrix& angles = in.scratch(in.length(), logs_[0].size());
    angles = in.tables.values[static_cast<size_t>(in.layer)].topRows(in.length());
    return angles;
  }
  void angles_backward(const AttentionInput& in, Matrix& d_angles, AttentionGradient& d) const override {
    d.tables[static_cast<size_t>(in.layer)].topRows(in.length()) += d_angles;
  }

 private:
  Real frequency(const Parameters& p, size_t layer, Index n) const {
    return std::exp(p[logs_[layer]].data()[n] / static_cast<Real>(slowness_));
  }

  double slowness_;
  std::vector<Parameter> logs_;  // l (1, D / 2) or (H, D / 2), one for each layer
};

const RegisterEncoding<GrapeM> registered{kInfo};

}  // namespace
}  // namespace posbench::grape_m
