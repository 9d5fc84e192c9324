// Rotates as RoPE does, except for the pairs that complete no full turn within the trained length (HoPE).
#include <numbers>

#include "encodings/parts/rotary.h"
#include "encodings/registry.h"

namespace posbench {
namespace {

const EncodingInfo kInfo{
    .name = "rope_hope",
    .family = Family::rotary,
    .equation =
        "score_h(i, j) = R(p_i) q_i . R(p_j) k_j / sqrt(D),   R(p) rotates pair n by p w_n\n"
        "w_n = base^(-2n / D) if that is at least 2 pi / L, else 0;   L is the trained length",
    .source = "Chen et al. 2025 (HoPE), as restated by Levy, Videau et al. 2026, arXiv:2609.34556",
    .notes =
        "No pair meets unseen angles beyond the trained length. Only the restatement was read; no code was "
        "found. With L below 2 pi no pair turns, which is NoPE.",
    .takes_positions = TakesPositions::positions,
    .extrapolates = Extrapolation::yes,
    .relative = Relative::yes,
    .content_dependent = "no",
    .variants = {"base=4,length=20", "length=3"},
};

class RopeHope final : public RopeVariant {
 public:
  struct Options : RopeOptions {
    int length = 0;
    void describe(OptionTable& o) {
      o.integer("length", length, 0, 1 << 20,
                "L: pairs that need longer for a full turn are not rotated; 0: the trained length");
      RopeOptions::describe(o);
    }
  };

  RopeHope(const Options& options, const ModelConfig& config, ParameterLayout&)
      : RopeVariant(config, options, kInfo.name),
        slowest_(2 * std::numbers::pi / (options.length > 0 ? options.length : config.trained_length)) {}

  Spectrum spectrum() const override {
    Spectrum spectrum = RopeVariant::spectrum();
    for (double& w : spectrum.frequencies) {
      if (w < slowest_) w = 0;
    }
    return spectrum;
  }

 private:
  double slowest_;  // radians for each position
};

const RegisterEncoding<RopeHope> registered{kInfo};

}  // namespace
}  // namespace posbench
