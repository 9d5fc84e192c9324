// NAPE: half of the heads have ALiBi's penalty with steeper slopes, and the other heads have no position.
#include <cmath>

#include "encodings/parts/distance_bias.h"
#include "encodings/registry.h"

namespace posbench::nape {
namespace {

const EncodingInfo kInfo{
    .name = "nape",
    .family = Family::bias_by_distance,
    .equation =
        "score_h(i, j) = q_i . k_j / sqrt(D) - m_h (i - j)\n"
        "m_h           = 1 / (h + 1), or 2^-h with slopes=exponential, in half of the heads; 0 in the others",
    .source = "Vasylenko et al. 2025, arXiv:2506.16640; deep-spin/asentmax",
    .notes =
        "The paper combines it with entmax (encodings entmax and asentmax), so that far keys get exactly 0 in "
        "the heads with a penalty.",
    .causal_only = true,
    .takes_positions = TakesPositions::distances,
    .extrapolates = Extrapolation::yes,
    .relative = Relative::yes,
    .content_dependent = "no",
    .distance_decay = DistanceDecay::yes,
    .variants = {"slopes=exponential"},
};

enum class Slopes { linear, exponential };

class Nape final : public DistanceBias {
 public:
  struct Options {
    Slopes slopes = Slopes::linear;
    void describe(OptionTable& o) {
      o.choice("slopes", slopes, {"linear", "exponential"},
               "slopes of the heads with a penalty: 1 / (h + 1), or 2^-h");
    }
  };

  Nape(const Options& options, const ModelConfig& config, ParameterLayout&)
      : DistanceBias(config), options_(options) {}

  Index num_penalized_heads() const override { return config_.heads / 2; }

  void values(const Parameters&, const In& distances, Out values) const override {
    values.setZero();
    for (int h = 0; h < num_penalized_heads(); ++h) {
      const Real slope =
          options_.slopes == Slopes::linear ? Real(1) / static_cast<Real>(h + 1) : std::exp2(Real(-h));
      values.row(h) = -slope * distances.row(0);
    }
  }

 private:
  Options options_;
};

const RegisterEncoding<Nape> registered{kInfo};

}  // namespace
}  // namespace posbench::nape
