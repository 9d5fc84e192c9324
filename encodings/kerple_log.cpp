// KERPLE, logarithmic kernel: a penalty that grows with the logarithm of distance, with two learned scalars for
// each head.
//
//   score_h(i, j) = q_i . k_j / sqrt(D) - r1_h log(1 + r2_h |i - j|),   r1, r2 >= 0.01
//
// Chi et al. 2022, arXiv:2205.09921, section 4; chijames/KERPLE. r1 starts uniform over (0, 2), r2 over (0, 1).
// The bound is a projection after every update, as in the code. One pair for all layers, by the code; DAPE's
// repository has one for each (per_layer=true). The code's optional factor on the scores, exp(-a d^p), is left
// out. The paper is causal; bidirectionally the kernel cannot tell left from right.
#include <cmath>

#include "encodings/parts/kerple.h"
#include "encodings/registry.h"

namespace posbench {
namespace {

class KerpleLog final : public Kerple {
 public:
  struct Options {
    bool per_layer = false;
    void describe(OptionTable& o) { o.flag("per_layer", per_layer, "r1 and r2 for each layer"); }
  };

  KerpleLog(const Options& options, const ModelShape& shape, ParameterLayout& layout)
      : Kerple("kerple_log", options.per_layer, {2, INFINITY}, {1, INFINITY}, shape, layout) {}

  Value kernel(Real r1, Real r2, Real distance) const override {
    const Real logarithm = static_cast<Real>(std::log1p(static_cast<double>(r2 * distance)));
    return {-r1 * logarithm, -logarithm, -r1 * distance / (1 + r2 * distance)};
  }
};

const RegisterEncoding<KerpleLog> registered{{
    .name = "kerple_log",
    .family = Family::bias_by_distance,
    .equation = "score_h(i, j) = q_i . k_j / sqrt(D) - r1_h log(1 + r2_h |i - j|)",
    .source = "Chi et al. 2022, arXiv:2205.09921, section 4; chijames/KERPLE",
    .notes = "r1 and r2 are projected to at least 0.01 after every update. With few heads the random starts may "
             "lie close "
             "together.",
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
