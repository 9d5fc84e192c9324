// Rounds the wavelengths of RoPE to whole tokens.
#include "encodings/parts/rotary.h"
#include "encodings/registry.h"

namespace posbench::resonance_rope {
namespace {

const EncodingInfo kInfo{
    .name = "resonance_rope",
    .family = Family::rotary,
    .equation =
        "score_h(i, j) = R(p_i) q_i . R(p_j) k_j / sqrt(D),   "
        "R(p) rotates pair n by p 2 pi / round(2 pi / w_n)\n"
        "w_n = base^(-2n / D)",
    .source = "Wang et al. 2024, arXiv:2403.00071, section 4; sheryc/resonance_rope",
    .notes =
        "Beyond the trained length a pair repeats exactly the angles of its first full turn. Pairs whose "
        "first turn is longer than the trained length still reach new angles. The combination with YaRN is "
        "interpolated:method=yarn,resonance=true.",
    .takes_positions = TakesPositions::positions,
    .extrapolates = Extrapolation::defined,
    .relative = Relative::yes,
    .content_dependent = "no",
    .variants = {"pairing=half_split"},
};

class ResonanceRope final : public RopeVariant {
 public:
  using Options = RopeOptions;
  ResonanceRope(const Options& options, const ModelConfig& config, ParameterLayout&)
      : RopeVariant(config, options, kInfo.name) {}

  Spectrum spectrum() const override {
    Spectrum spectrum = RopeVariant::spectrum();
    round_wavelengths(spectrum.frequencies);
    return spectrum;
  }
};

const RegisterEncoding<ResonanceRope> registered{kInfo};

}  // namespace
}  // namespace posbench::resonance_rope
