// Resonance RoPE: RoPE whose wavelengths are rounded to whole tokens, so that beyond the trained length a pair
// repeats exactly the angles of its first full turn.
//
//   score_h(i, j) = R(p_i) q_i . R(p_j) k_j / sqrt(D),   R(p) rotates pair n by p 2 pi / round(2 pi / w_n),
//   w_n = base^(-2 n / D)
//
// Wang et al. 2024, arXiv:2403.00071, section 4; sheryc/resonance_rope. Its combination with YaRN is
// interpolated:method=yarn,resonance=true.
#include "encodings/parts/rotary.h"
#include "encodings/registry.h"

namespace posbench {
namespace {

class ResonanceRope final : public Rotary {
 public:
  struct Options {
    double base = 10000;
    Pairing pairing = Pairing::interleaved;
    void describe(OptionTable& o) {
      o.number("base", base, 1.001, 1e9, "the slowest pair turns once in about 2 pi base positions");
      o.choice("pairing", pairing, {"interleaved", "half_split"}, "components 2n and 2n + 1, or n and n + D/2");
    }
  };

  ResonanceRope(const Options& options, const ModelShape& shape, ParameterLayout&)
      : Rotary(shape, options.pairing, "resonance_rope"), options_(options) {}

  Spectrum spectrum() const override {
    Spectrum spectrum{rope_frequencies(shape_.head_width(), options_.base), shape_.head_width(), options_.base};
    round_wavelengths(spectrum.frequencies);
    return spectrum;
  }

 private:
  Options options_;
};

const RegisterEncoding<ResonanceRope> registered{{
    .name = "resonance_rope",
    .family = Family::rotary,
    .equation =
        "score(i, j) = R(i) q_i . R(j) k_j / sqrt(D),   R(p) rotates pair n by p 2 pi / round(2 pi / w_n),   "
        "w_n = base^(-2n / D)",
    .source = "Wang et al. 2024, arXiv:2403.00071; sheryc/resonance_rope",
    .notes = "Pairs slower than the trained length still leave its angles; with YaRN: "
             "interpolated:method=yarn,resonance=true.",
    .touches = "R",
    .takes_positions = TakesPositions::positions,
    .extrapolates = Extrapolation::defined,
    .relative = Relative::yes,
    .content_dependent = "no",
    .variants = {"pairing=half_split"},
}};

}  // namespace
}  // namespace posbench
