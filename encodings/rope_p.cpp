// p-RoPE: RoPE whose slowest pairs are not rotated, so that they depend on content alone.
//
//   score_h(i, j) = R(p_i) q_i . R(p_j) k_j / sqrt(D),   R(p) rotates pair n by p w_n
//   w_n           = base^(-2 n / D) for n < floor(fraction D / 2), else 0
//
// Barbero et al. 2024, arXiv:2410.06205, section 6. fraction=1 is RoPE, fraction=0 is NoPE; the exponent keeps the
// full D. The rule was read in google-deepmind/gemma and in ports, which agree, not in the authors' own code.
#include "encodings/registry.h"
#include "encodings/parts/rotary.h"

namespace posbench {
namespace {

class RopeP final : public Rotary {
 public:
  struct Options {
    double fraction = 0.75, base = 10000;
    Pairing pairing = Pairing::interleaved;
    void describe(OptionTable& o) {
      o.number("fraction", fraction, 0, 1, "p: the fraction of the pairs, the fastest ones, that turn");
      o.number("base", base, 1.001, 1e9, "the slowest pair of RoPE turns once in about 2 pi base positions");
      o.choice("pairing", pairing, {"interleaved", "half_split"}, "components 2n and 2n + 1, or n and n + D/2");
    }
  };

  RopeP(const Options& options, const ModelShape& shape, ParameterLayout&)
      : Rotary(shape, options.pairing, "rope_p"), options_(options) {}

  Spectrum spectrum() const override {
    const Index D = shape_.head_width();
    Spectrum spectrum{rope_frequencies(D, options_.base), D, options_.base};
    const Index turning = static_cast<Index>(options_.fraction * static_cast<double>(D) / 2);
    for (Index n = turning; n < D / 2; ++n) spectrum.frequencies[n] = 0;
    return spectrum;
  }

 private:
  Options options_;
};

const RegisterEncoding<RopeP> registered{{
    .name = "rope_p",
    .family = Family::rotary,
    .equation = "score(i, j) = R(i) q_i . R(j) k_j / sqrt(D),   R(p) rotates pair n by p base^(-2n / D), those "
                "from p D / 2 "
                "on by 0",
    .source = "Barbero et al. 2024, arXiv:2410.06205; google-deepmind/gemma (a port)",
    .notes = "Read in ports, which agree, not in the authors' own code.",
    .touches = "R",
    .takes_positions = TakesPositions::positions,
    .extrapolates = Extrapolation::defined,
    .relative = Relative::yes,
    .content_dependent = "no",
    .variants = {"fraction=0", "fraction=1,pairing=half_split"},
}};

}  // namespace
}  // namespace posbench
