// Rotates only the fastest pairs of RoPE. The slowest pairs depend on content alone.
#include "encodings/parts/rotary.h"
#include "encodings/registry.h"

namespace posbench::rope_p {
namespace {

const EncodingInfo kInfo{
    .name = "rope_p",
    .family = Family::rotary,
    .equation =
        "score_h(i, j) = R(p_i) q_i . R(p_j) k_j / sqrt(D),   R(p) rotates pair n by p w_n\n"
        "w_n = base^(-2n / D) if n < floor(fraction D / 2), else 0",
    .source = "Barbero et al. 2024, arXiv:2410.06205, section 6; google-deepmind/gemma (a port)",
    .notes =
        "fraction=1 is RoPE and fraction=0 is NoPE; the exponent keeps the full D. The rule was read in "
        "google-deepmind/gemma and in ports, which agree, and not in the authors' code.",
    .takes_positions = TakesPositions::positions,
    .extrapolates = Extrapolation::defined,
    .relative = Relative::yes,
    .content_dependent = "no",
    .variants = {"fraction=0", "fraction=1,pairing=half_split"},
};

class RopeP final : public RopeVariant {
 public:
  struct Options : RopeOptions {
    double fraction = 0.75;
    void describe(OptionTable& o) {
      o.number("fraction", fraction, 0, 1, "fraction of the pairs, the fastest ones, that are rotated");
      RopeOptions::describe(o);
    }
  };

  RopeP(const Options& options, const ModelConfig& config, ParameterLayout&)
      : RopeVariant(config, options, kInfo.name), fraction_(options.fraction) {}

  Spectrum spectrum() const override {
    const Index D = config_.head_width();
    Spectrum spectrum = RopeVariant::spectrum();
    const Index turning = static_cast<Index>(fraction_ * static_cast<double>(D) / 2);
    for (Index n = turning; n < D / 2; ++n) spectrum.frequencies[n] = 0;
    return spectrum;
  }

 private:
  double fraction_;
};

const RegisterEncoding<RopeP> registered{kInfo};

}  // namespace
}  // namespace posbench::rope_p
