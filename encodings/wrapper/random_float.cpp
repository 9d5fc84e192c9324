// Gives the base real positions from one interval, which are drawn and sorted for every training sequence.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

#include "base/error.h"
#include "encodings/parts/decorator.h"
#include "encodings/registry.h"

namespace posbench::random_float {
namespace {

const EncodingInfo kInfo{
    .name = "random_float",
    .family = Family::wrapper,
    .equation =
        "the base's, with p_t for t\n"
        "training:   p_t = S times the t-th smallest of T numbers uniform over [0, 1)\n"
        "evaluation: p_t = S (2t + 1) / (2 max(L, T)),   L the trained length",
    .source = "Shimizu et al. 2026, arXiv:2602.14050",
    .notes =
        "Training covers all distances, and longer sequences are only denser. Only the paper's "
        "introduction could be read; the formulas are as other texts quote them. The paper's bases are "
        "sinusoids, RoPE and ALiBi; their frequencies and slopes there are not known. The range S is "
        "therefore ours: with the default, S = L, neighbors are 1 apart on average.",
    .extrapolates = Extrapolation::yes,
    .relative = Relative::as_base,
    .content_dependent = "no",
    .distinct = Distinct::as_base,
    .distance_decay = DistanceDecay::as_base,
    .variants = {"base=alibi", "base=kerple_log", "base=rope,range=1", "base=txl"},
};

class RandomFloat final : public Decorator {
 public:
  struct Options {
    std::string base = "sinusoidal";
    double range = 0;
    std::string wrapped() const { return base; }
    bool chooses_positions() const { return true; }
    void describe(OptionTable& o) {
      o.text("base", base, "an encoding of real positions", "encoding that gets the positions");
      o.number("range", range, 0, 1e6, "S, the upper end of the positions; 0: the trained length");
    }
  };

  RandomFloat(const Options& options, const ModelConfig& config, ParameterLayout& layout)
      : Decorator(config, checked_base(options, config, layout)),
        range_(options.range > 0 ? options.range : config.trained_length) {}

  Positions positions(const Sequence& s, Rng& rng) const override {
    Positions positions = inner().positions(s, rng);
    positions.depends_on_length = true;
    const double T = static_cast<double>(positions.size()), most = std::max<double>(config_.trained_length, T);
    for (size_t t = 0; t < positions.at.size(); ++t) {
      const double p = s.training ? uniform_real(rng) : (2 * static_cast<double>(t) + 1) / (2 * most);
      positions.at[t] = static_cast<Real>(p * range_);
    }
    std::sort(positions.at.begin(), positions.at.end());
    return positions;
  }

 private:
  static std::unique_ptr<PositionEncoding> checked_base(const Options& options, const ModelConfig& config,
                                                        ParameterLayout& layout) {
    require_positions("random_float", options.base);
    const Spec base = Spec::parse(options.base);
    if (encodings().find(innermost(base).name).info.takes_positions == TakesPositions::whole_positions) {
      throw InputError(
          fmt::format("encoding 'random_float': base is '{}', which has a row for each whole position; "
                      "expected an encoding of real positions such as sinusoidal, rope or alibi",
                      options.base));
    }
    ModelConfig longer = config;
    longer.longest = std::max(config.longest, static_cast<int>(std::ceil(options.range)));
    return make_encoding(base, longer, layout);
  }

  double range_;  // S
};

const RegisterEncoding<RandomFloat> registered{kInfo};

}  // namespace
}  // namespace posbench::random_float
