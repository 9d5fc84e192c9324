// NAPE: half of the heads have ALiBi's penalty, with steeper slopes, and the others no position at all.
//
//   score_h(i, j) = q_i . k_j / sqrt(D) - m_h (i - j),   m_h = 1 / (h + 1) for h < M, and 0 for the others
//   slopes=exponential: m_h = 2^-h
//
// Vasylenko et al. 2025, arXiv:2506.16640; deep-spin/asentmax. M: half of the heads. Paired with entmax there, so
// that far keys get exactly 0 in the heads with a penalty.
#include <cmath>

#include "encodings/parts/distance_bias.h"
#include "encodings/registry.h"

namespace posbench {
namespace {

enum class Slopes { linear, exponential };

class Nape final : public DistanceBias {
 public:
  struct Options {
    Slopes slopes = Slopes::linear;
    void describe(OptionTable& o) {
      o.choice("slopes", slopes, {"linear", "exponential"}, "1 / (h + 1), or 2^-h, for the heads with a penalty");
    }
  };

  Nape(const Options& options, const ModelShape& shape, ParameterLayout&)
      : DistanceBias(shape), options_(options) {}

  void values(const Parameters&, const In& distances, Out values) const override {
    values.setZero();
    for (int h = 0; h < shape_.heads / 2; ++h) {
      const Real slope =
          options_.slopes == Slopes::linear ? Real(1) / static_cast<Real>(h + 1) : std::exp2(Real(-h));
      values.row(h) = -slope * distances.row(0);
    }
  }

 private:
  Options options_;
};

const RegisterEncoding<Nape> registered{{
    .name = "nape",
    .family = Family::bias_by_distance,
    .equation =
        "score_h(i, j) = q_i . k_j / sqrt(D) - m_h (i - j),   m_h = 1 / (h + 1) in half of the heads, 0 in "
        "the others",
    .source = "Vasylenko et al. 2025, arXiv:2506.16640; deep-spin/asentmax",
    .notes = "The paper pairs it with entmax: encodings entmax and asentmax.",
    .causal_only = true,
    .touches = "B",
    .takes_positions = TakesPositions::distances,
    .extrapolates = Extrapolation::yes,
    .relative = Relative::yes,
    .content_dependent = "no",
    .distance_decay = DistanceDecay::yes,
    .variants = {"slopes=exponential"},
}};

}  // namespace
}  // namespace posbench
