// Sandwich: the inner product of two sinusoidal embeddings, which depends on distance alone, as a bias.
#include <fmt/format.h>

#include <cmath>

#include "base/error.h"
#include "encodings/parts/distance_bias.h"
#include "encodings/registry.h"

namespace posbench::sandwich {
namespace {

const EncodingInfo kInfo{
    .name = "sandwich",
    .family = Family::bias_by_distance,
    .equation =
        "score_h(i, j) = q_i . k_j / sqrt(D) + (S(i - j) - W / 2) H / (8 (h + 1))\n"
        "S(n)          = sum over m = f .. f + W / 2 - 1 of cos(n 10000^(-2 m / W))",
    .source = "Chi et al. 2023, arXiv:2212.10356; NVIDIA/NeMo",
    .notes =
        "No code of the authors was found: the formula is the paper's description as NVIDIA/NeMo restates it. "
        "W is the width of the sinusoidal embeddings, not the model's, and its default 128 is from memory. "
        "NeMo counts frequencies from f = 1 (first=1) and takes the width of a head for W. The constant W / 2 "
        "changes nothing after the softmax. The paper is causal; S is even, so that a bidirectional model "
        "cannot tell left from right.",
    .takes_positions = TakesPositions::distances,
    .extrapolates = Extrapolation::yes,
    .relative = Relative::yes,
    .content_dependent = "no",
    .distance_decay = DistanceDecay::yes,
    .variants = {"width=8,first=1"},
};

class Sandwich final : public DistanceBias {
 public:
  struct Options {
    int width = 128, first = 0;
    void describe(OptionTable& o) {
      o.integer("width", width, 2, 1 << 16, "W, the width of the sinusoidal embeddings; even");
      o.integer("first", first, 0, 1, "f, the first frequency; 1 as in NVIDIA/NeMo");
    }
  };

  Sandwich(const Options& options, const ModelConfig& config, ParameterLayout&)
      : DistanceBias(config), options_(options) {
    if (options.width % 2 != 0) {
      throw InputError(fmt::format("encoding 'sandwich': width is {}, expected an even number", options.width));
    }
  }

  void values(const Parameters&, const In& distances, Out values) const override {
    const int half = options_.width / 2;
    for (Index n = 0; n < distances.cols(); ++n) {
      double sum = 0;
      for (int m = options_.first; m < options_.first + half; ++m) {
        sum += std::cos(static_cast<double>(distances(0, n)) * std::pow(10000.0, -2.0 * m / options_.width));
      }
      for (int h = 0; h < config_.heads; ++h) {
        values(h, n) = static_cast<Real>((sum - half) * config_.heads / (8.0 * (h + 1)));
      }
    }
  }

 private:
  Options options_;
};

const RegisterEncoding<Sandwich> registered{kInfo};

}  // namespace
}  // namespace posbench::sandwich
