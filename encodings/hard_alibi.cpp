// Hard-ALiBi: half of the heads see a window of the nearest keys, each head one key more than the one before; the
// others see all keys, without positions.
//
//   score_h(i, j) = q_i . k_j / sqrt(D), and query i sees key j where i - j <= h, for the heads h = 0 .. M - 1
//   score_h(i, j) = q_i . k_j / sqrt(D) for the others
//
// Jelassi et al. 2024, arXiv:2402.01032; sjelassi/transformers_ssm_copy, where M = 8 of 16 heads.
#include "encodings/parts/distance_bias.h"
#include "model/hidden.h"
#include "encodings/registry.h"

namespace posbench {
namespace {

class HardAlibi final : public DistanceBias {
 public:
  struct Options {
    int heads = 0;
    void describe(OptionTable& o) { o.integer("heads", heads, 0, 1 << 20, "M, heads with a window; 0: half"); }
  };

  HardAlibi(const Options& options, const ModelShape& shape, ParameterLayout&)
      : DistanceBias(shape), windows_(options.heads > 0 ? options.heads : shape.heads / 2) {
    if (windows_ > shape.heads) {
      throw std::invalid_argument(fmt::format(
          "encoding 'hard_alibi': heads is {}, more than the heads of the model, {}", windows_, shape.heads));
    }
  }

  void values(const Parameters&, const In& distances, Out values) const override {
    for (Index h = 0; h < values.rows(); ++h) {
      for (Index n = 0; n < distances.cols(); ++n) {
        values(h, n) = h < windows_ && distances(0, n) > static_cast<Real>(h) ? kHidden : 0;
      }
    }
  }

 private:
  int windows_;
};

const RegisterEncoding<HardAlibi> registered{{
    .name = "hard_alibi",
    .family = Family::bias_by_distance,
    .equation = "score_h(i, j) = q_i . k_j / sqrt(D), in heads h < M for the keys with i - j <= h only",
    .source = "Jelassi et al. 2024, arXiv:2402.01032; sjelassi/transformers_ssm_copy",
    .notes = "M = 8 of 16 heads in the code; here half of the heads.",
    .causal_only = true,
    .touches = "B",
    .takes_positions = TakesPositions::distances,
    .extrapolates = Extrapolation::yes,
    .relative = Relative::yes,
    .content_dependent = "no",
    .distinct = Distinct::partly,
    .variants = {"heads=1"},
}};

}  // namespace
}  // namespace posbench
