// Rotates as RoPE does, except for the pairs that complete no full turn within the trained length (HoPE).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "base/error.h"
#include "encodings/parts/rotary.h"
#include "encodings/registry.h"

namespace posbench::rope_hope {
namespace {

const EncodingInfo kInfo{
    .name = "rope_hope",
    .family = Family::rotary,
    .equation =
        "score_h(i, j) = R(p_i) q_i . R(p_j) k_j / sqrt(D),   R(p) rotates pair n by p w_n\n"
        "w_n = base^(-2n / D) if that is at least 2 pi / L, else 0;   L is the trained length\n"
        "taper=c: w_n = base^(-2n / D), and that of the c slowest pairs times (1 + cos(pi m / (c - 1))) / 2, "
        "m = 0 .. c - 1",
    .source =
        "Chen et al. 2025 (HoPE), as restated by Levy, Videau et al. 2026, arXiv:2609.34556; taper: Li et al. "
        "2026 (Clipped RoPE), arXiv:2602.05258, hrlics/CoPE",
    .notes =
        "No pair meets unseen angles beyond the trained length. Only the restatement was read; no code was "
        "found. With L below 2 pi no pair turns, which is NoPE. taper is Clipped RoPE, whose authors call it CoPE. It "
        "has nothing to do with contextual position encoding. Their code tapers the 20 slowest of 64 pairs.",
    .takes_positions = TakesPositions::positions,
    .extrapolates = {Extrapolation::yes, "but not with taper"},
    .relative = Relative::yes,
    .content_dependent = "no",
    .variants = {"base=4,length=20", "length=3", "taper=2", "taper=1"},
};

class RopeHope final : public RopeVariant {
 public:
  struct Options : RopeOptions {
    int length = 0, taper = 0;
    void describe(OptionTable& o) {
      o.integer("length", length, 0, 1 << 20,
                "L: pairs that need longer for a full turn are not rotated; 0: the trained length");
      o.integer(
          "taper", taper, 0, 1 << 16,
          "number of the slowest pairs that turn slower and slower down to 0, instead of the limit L; 0: none");
      RopeOptions::describe(o);
    }
  };

  RopeHope(const Options& options, const ModelConfig& config, ParameterLayout&)
      : RopeVariant(config, options, kInfo.name),
        slowest_(2 * std::numbers::pi / (options.length > 0 ? options.length : config.trained_length)),
        taper_(options.taper) {
    if (taper_ > 0 && options.length > 0) {
      throw InputError(fmt::format(
          "encoding 'rope_hope': length is {} and taper is {}; taper replaces the limit, so leave out one of them",
          options.length, taper_));
    }
  }

  Spectrum spectrum() const override {
    Spectrum spectrum = RopeVariant::spectrum();
    std::vector<double>& w = spectrum.frequencies;
    if (taper_ == 0) {
      std::ranges::replace_if(
          w, [&](double frequency) { return frequency < slowest_; }, 0);
      return spectrum;
    }
    const size_t tapered = std::min(w.size(), static_cast<size_t>(taper_));
    for (size_t m = 1; m < tapered; ++m) {
      const double phase = std::numbers::pi * static_cast<double>(m) / static_cast<double>(tapered - 1);
      w[w.size() - tapered + m] *= (1 + std::cos(phase)) / 2;
    }
    return spectrum;
  }

 private:
  double slowest_;  // radians for each position
  int taper_;       // pairs
};

const RegisterEncoding<RopeHope> registered{kInfo};

}  // namespace
}  // namespace posbench::rope_hope
