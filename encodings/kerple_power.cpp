// KERPLE, power kernel: a penalty that grows with a power of distance, with two learned scalars for each head.
//
//   score_h(i, j) = q_i . k_j / sqrt(D) - r1_h |i - j|^r2_h,   r1 >= 0.01,   0.01 <= r2 <= 2
//
// Chi et al. 2022, arXiv:2205.09921, section 4; chijames/KERPLE. r1 starts uniform over (0, 1), r2 over (0, 2).
// The bounds are a projection after every update, as in the code. One pair for all layers, by the code; DAPE's
// repository has one for each (per_layer=true). ALiBi is r2 = 1 with fixed r1. The code's optional factor on the
// scores, exp(-a d^p), is left out. The paper is causal; bidirectionally the kernel cannot tell left from right.
#include <cmath>

#include "encodings/parts/kerple.h"
#include "encodings/registry.h"

namespace posbench {
namespace {

class KerplePower final : public Kerple {
 public:
  struct Options {
    bool per_layer = false;
    void describe(OptionTable& o) { o.flag("per_layer", per_layer, "r1 and r2 for each layer"); }
  };

  KerplePower(const Options& options, const ModelShape& shape, ParameterLayout& layout)
      : Kerple("kerple_power", options.per_layer, {1, INFINITY}, {2, 2}, shape, layout) {}

  Value kernel(Real r1, Real r2, Real distance) const override {
    if (distance == 0) return {0, 0, 0};  // the limit of d^r2 log(d)
    const Real power = std::pow(distance, r2);
    return {-r1 * power, -power, -r1 * power * std::log(distance)};
  }
};

const RegisterEncoding<KerplePower> registered{{
    .name = "kerple_power",
    .family = Family::bias_by_distance,
    .equation = "score_h(i, j) = q_i . k_j / sqrt(D) - r1_h |i - j|^r2_h,   r2 <= 2",
    .source = "Chi et al. 2022, arXiv:2205.09921, section 4; chijames/KERPLE",
    .notes =
        "r1 and r2 are projected to at least 0.01, r2 to at most 2, after every update. With few heads the random "
        "starts may lie close together.",
    .touches = "B",
    .learned = true,
    .takes_positions = TakesPositions::distances,
    .extrapolates = Extrapolation::yes,
    .relative = Relative::yes,
    .content_dependent = "no",
    .distance_decay = DistanceDecay::yes,
    .variants = {"per_layer=true"},
}};

}  // namespace
}  // namespace posbench
