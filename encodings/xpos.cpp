// xPos: RoPE whose scores decay with distance, those of fast pairs more than those of slow ones.
//
//   score_h(i, j) = sum over pairs n of zeta_n^((p_i - p_j) / B) (R(p_i) q_i)_n . (R(p_j) k_j)_n / sqrt(D)
//   zeta_n        = (2 n / D + gamma) / (1 + gamma),   R(p) rotates pair n by p base^(-2 n / D)
//
// Sun et al. 2022, arXiv:2212.10554, section 3; microsoft/torchscale. Queries are multiplied by zeta^(p / B), keys
// by zeta^(-p / B), with p counted from the middle of the sequence, as the code does to stay within the range of
// floats: scores do not change. Causal only: keys after the query would grow without bound. With the paper's B =
// 512 short sequences hardly decay: choose it near the trained length. The paper's block-wise attention beyond that
// length is not part of it.
#include <cmath>

#include "encodings/registry.h"
#include "encodings/parts/rotary.h"

namespace posbench {
namespace {

class Xpos final : public Rotary {
 public:
  struct Options {
    double gamma = 0.4, scale_base = 512, base = 10000;
    void describe(OptionTable& o) {
      o.number("gamma", gamma, 0.01, 1e6, "larger ones make all pairs decay more slowly");
      o.number("scale_base", scale_base, 1, 1e9, "B: the distance at which pair n has decayed by the factor zeta_n");
      o.number("base", base, 1.001, 1e9, "the slowest pair turns once in about 2 pi base positions");
    }
  };

  Xpos(const Options& options, const ModelShape& shape, ParameterLayout&)
      : Rotary(shape, Pairing::interleaved, "xpos"), options_(options) {
    const double largest =
        -std::log(zeta(0)) * shape.longest / (2 * options.scale_base);  // the exponent of a factor
    if (largest > 80) {
      throw std::invalid_argument(fmt::format(
          "encoding 'xpos': scale_base is {}, too small for sequences of {}: factors would reach e^{:.0f}",
          options.scale_base, shape.longest, largest));
    }
  }

  Spectrum spectrum() const override {
    return {rope_frequencies(shape_.head_width(), options_.base), shape_.head_width(), options_.base};
  }

  void rotations(const Positions& positions, const Spectrum& spectrum, Rotations& r) const override {
    Rotary::rotations(positions, spectrum, r);
    r.keys_differ = true;
    r.key_cosine = r.cosine;
    r.key_sine = r.sine;
    const double middle =
        (static_cast<double>(positions.at.front()) + static_cast<double>(positions.at.back())) / 2;
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
    return (2.0 * static_cast<double>(n) / shape_.head_width() + options_.gamma) / (1 + options_.gamma);
  }

  Options options_;
};

const RegisterEncoding<Xpos> registered{{
    .name = "xpos",
    .family = Family::rotary,
    .equation =
        "score(i, j) = sum over pairs n of zeta_n^((i - j) / B) (R(i) q_i)_n . (R(j) k_j)_n / sqrt(D),   zeta_n = "
        "(2n / D + gamma) / (1 + gamma)",
    .source = "Sun et al. 2022, arXiv:2212.10554; microsoft/torchscale",
    .notes = "With B = 512 scores hardly decay in short sequences. "
             "The block-wise attention that the paper adds beyond the trained "
             "length is not part of it.",
    .causal_only = true,
    .touches = "R",
    .takes_positions = TakesPositions::positions,
    .extrapolates = Extrapolation::defined,
    .relative = Relative::yes,
    .content_dependent = "no",
    .variants = {"scale_base=8,gamma=0.1"},
}};

}  // namespace
}  // namespace posbench
