// Hard-ALiBi: half of the heads see a window of the nearest keys, each head one key more than the one before. The
// other heads see all keys, without positions.
#include <fmt/format.h>

#include "base/error.h"
#include "encodings/parts/distance_bias.h"
#include "encodings/registry.h"
#include "model/hidden.h"

namespace posbench::hard_alibi {
namespace {

const EncodingInfo kInfo{
    .name = "hard_alibi",
    .family = Family::bias_by_distance,
    .equation = "score_h(i, j) = q_i . k_j / sqrt(D), in heads h < M for the keys with i - j <= h only",
    .source = "Jelassi et al. 2024, arXiv:2402.01032; sjelassi/transformers_ssm_copy",
    .notes = "M is 8 of 16 heads in the code; here it is half of the heads.",
    .causal_only = true,
    .takes_positions = TakesPositions::distances,
    .extrapolates = Extrapolation::yes,
    .relative = Relative::yes,
    .content_dependent = "no",
    .distinct = Distinct::partly,
    .variants = {"heads=1"},
};

class HardAlibi final : public DistanceBias {
 public:
  struct Options {
    int heads = 0;
    void describe(OptionTable& o) {
      o.integer("heads", heads, 0, 1 << 20, "M, the number of heads with a window; 0: half of the heads");
    }
  };

  HardAlibi(const Options& options, const ModelConfig& config, ParameterLayout&)
      : DistanceBias(config), windows_(options.heads > 0 ? options.heads : config.heads / 2) {
    if (windows_ > config.heads) {
      throw InputError(fmt::format("encoding 'hard_alibi': heads is {}, more than the heads of the model, {}",
                                   windows_, config.heads));
    }
  }

  bool hides_keys() const override { return true; }

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

const RegisterEncoding<HardAlibi> registered{kInfo};

}  // namespace
}  // namespace posbench::hard_alibi
