// HoPE: RoPE that does not rotate the pairs that complete no full turn within the trained length, so that no pair
// meets unseen angles beyond it.
//
//   score_h(i, j) = R(p_i) q_i . R(p_j) k_j / sqrt(D),   R(p) rotates pair n by p w_n
//   w_n           = base^(-2 n / D) where that is at least 2 pi / L, else 0
//
// Chen et al. 2025 (HoPE), read only as restated by Levy, Videau et al. 2026, arXiv:2609.34556. L: the trained
// length.
#include <numbers>

#include "encodings/registry.h"
#include "encodings/parts/rotary.h"

namespace posbench {
namespace {

class RopeHope final : public Rotary {
 public:
  struct Options {
    int length = 0;
    double base = 10000;
    Pairing pairing = Pairing::interleaved;
    void describe(OptionTable& o) {
      o.integer("length", length, 0, 1 << 20,
                "L: pairs that need longer for a full turn are not rotated; 0: the trained length");
      o.number("base", base, 1.001, 1e9, "the slowest pair of RoPE turns once in about 2 pi base positions");
      o.choice("pairing", pairing, {"interleaved", "half_split"}, "components 2n and 2n + 1, or n and n + D/2");
    }
  };

  RopeHope(const Options& options, const ModelShape& shape, ParameterLayout&)
      : Rotary(shape, options.pairing, "rope_hope"),
        base_(options.base),
        slowest_(2 * std::numbers::pi / (options.length > 0 ? options.length : shape.trained_length)) {}

  Spectrum spectrum() const override {
    Spectrum spectrum{rope_frequencies(shape_.head_width(), base_), shape_.head_width(), base_};
    for (double& w : spectrum.frequencies) {
      if (w < slowest_) w = 0;
    }
    return spectrum;
  }

 private:
  double base_, slowest_;  // radians a position
};

const RegisterEncoding<RopeHope> registered{{
    .name = "rope_hope",
    .family = Family::rotary,
    .equation = "score(i, j) = R(i) q_i . R(j) k_j / sqrt(D),   R(p) rotates pair n by p w_n, w_n = base^(-2n / "
                "D) or, where "
                "that is below 2 pi / L, 0",
    .source = "Chen et al. 2025 (HoPE), as restated by Levy, Videau et al. 2026, arXiv:2609.34556",
    .notes = "Read only in the restatement; no code was found. With L below 2 pi no pair turns: it is then NoPE.",
    .touches = "R",
    .takes_positions = TakesPositions::positions,
    .extrapolates = Extrapolation::yes,
    .relative = Relative::yes,
    .content_dependent = "no",
    .variants = {"base=4,length=20", "length=3"},
}};

}  // namespace
}  // namespace posbench
