// Rotates as RoPE does, with scores that decay with distance, those of fast pairs more than those of slow pairs.
#include <fmt/format.h>

#include <cmath>

#include "base/error.h"
#include "encodings/parts/rotary.h"
#include "encodings/registry.h"

namespace posbench::xpos {
namespace {

const EncodingInfo kInfo{
    .name = "xpos",
    .family = Family::rotary,
    .equation =
        "score_h(i, j) = sum over pairs n of zeta_n^((p_i - p_j) / B) (R(p_i) q_i)_n . (R(p_j) k_j)_n / "
        "sqrt(D)\n"
        "zeta_n = (2n / D + gamma) / (1 + gamma),   R(p) rotates pair n by p base^(-2n / D)",
    .source = "Sun et al. 2022, arXiv:2212.10554, section 3; microsoft/torchscale",
    .notes =
        "Queries are multiplied by zeta^(p / B) and keys by zeta^(-p / B). As in the code, p is counted "
        "from the middle of the sequence, which does not change scores and keeps factors within the range "
        "of floats. Bidirectional models are excluded, because keys after the query would grow without "
        "bound. With the paper's B = 512, scores hardly decay in short sequences; choose B near the "
        "trained length. The block-wise attention that the paper adds beyond the trained length is left "
        "out.",
    .causal_only = true,
    .takes_positions = TakesPositions::positions,
    .extrapolates = Extrapolation::defined,
    .relative = Relative::yes,
    .content_dependent = "no",
    .variants = {"scale_base=8,gamma=0.1"},
};

class Xpos final : public RopeVariant {
 public:
  struct Options {
    double gamma = 0.4, scale_base = 512, base = 10000;
    void describe(OptionTable& o) {
      o.number("gamma", gamma, 0.01, 1e6, "gamma; with a larger one all pairs decay more slowly");
      o.number("scale_base", scale_base, 1, 1e9,
               "B, the distance at which pair n has decayed by the factor zeta_n");
      o.number("base", base, 1.001, 1e9, "the slowest pair turns once in about 2 pi base positions");
    }
  };

  Xpos(const Options& options, const ModelConfig& config, ParameterLayout&)
      : RopeVariant(config, {.base = options.base}, kInfo.name), options_(options) {
    const double largest_exponent = -std::log(zeta(0)) * config.longest / (2 * options.scale_base);
    if (largest_exponent > 80) {
      throw InputError(fmt::format(
          "encoding 'xpos': scale_base is {}, too small for sequences of {}: factors would reach e^{:.0f}",
          options.scale_base, config.longest, largest_exponent));
    }
  }

  void rotations(const Positions& positions, const Spectrum& spectrum, double middle,
                 Rotations& r) const override {
    Rotary::rotations(positions, spectrum, middle, r);
    r.keys_differ = true;
    r.key_cosine = r.cosine;
    r.key_sine = r.sine;
    for (Index t = 0; t < positions.size(); ++t) {
      const double exponent = (static_cast<double>(positions.at[t]) - middle) / options_.scale_base;
      for (Index n = 0; n < r.cosine.cols(); ++n) {
        const double factor = std::pow(zeta(n), exponent);
        for (Matrix* m : {&r.cosine, &r.sine}) (*m)(t, n) *= static_cast<Real>(factor);
        for (Matrix* m : {&r.key_cosine, &r.key_sine}) (*m)(t, n) *= static_cast<Real>(1 / factor);
      }
    }
  }

 private:
  double zeta(Index n) const {
    return (2.0 * static_cast<double>(n) / config_.head_width() + options_.gamma) / (1 + options_.gamma);
  }

  Options options_;
};

const RegisterEncoding<Xpos> registered{kInfo};

}  // namespace
}  // namespace posbench::xpos
