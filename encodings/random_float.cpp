// Random float sampling: positions are real numbers from one interval, whatever the length, drawn and sorted for
// every training sequence, so that training sees all distances and longer sequences are only denser.
//
//   in training    p_t the t-th smallest of T numbers uniform over [0, 1), times S
//   in evaluation  p_t = (2 t + 1) / (2 max(L, T)) S, L the trained length
//
// Shimizu et al. 2026, arXiv:2602.14050, of which only the introduction could be read. The two formulas are as
// other texts quote them. The range S is ours, because we do not know which frequencies and slopes the bases have
// there: with S = L, the default, neighbours are 1 apart on average. The paper's bases are sinusoids, RoPE and ALiBi.
#include "encodings/parts/decorator.h"
#include "encodings/registry.h"

namespace posbench {
namespace {

class RandomFloat final : public Decorator {
 public:
  struct Options {
    std::string base = "sinusoidal";
    double range = 0;
    std::string wrapped() const { return base; }
    void describe(OptionTable& o) {
      o.text("base", base, "an encoding of real positions", "the encoding that gets the positions");
      o.number("range", range, 0, 1e6, "S: positions lie between 0 and S; 0: the trained length");
    }
  };

  RandomFloat(const Options& options, const ModelShape& shape, ParameterLayout& layout)
      : Decorator(shape, checked_base(options, shape, layout)),
        range_(options.range > 0 ? options.range : shape.trained_length) {}

  Positions positions(const Sequence& s, Rng& rng) const override {
    Positions positions = inner().positions(s, rng);
    positions.whole = true;
    const double T = static_cast<double>(positions.size()), most = std::max<double>(shape_.trained_length, T);
    for (size_t t = 0; t < positions.at.size(); ++t) {
      const double p = s.training ? uniform_real(rng) : (2 * static_cast<double>(t) + 1) / (2 * most);
      positions.at[t] = static_cast<Real>(p * range_);
    }
    std::sort(positions.at.begin(), positions.at.end());
    return positions;
  }

 private:
  static std::unique_ptr<PositionEncoding> checked_base(const Options& options, const ModelShape& shape,
                                                        ParameterLayout& layout) {
    require_positions("random_float", options.base);
    const Spec base = Spec::parse(options.base), reads = innermost(base);
    for (const char* name : {"learned_abs", "tupe_a", "tupe_r"}) {
      if (reads.name == name) {
        throw std::invalid_argument(
            fmt::format("encoding 'random_float': base is '{}', which has a row for each whole position; expected "
                        "an encoding of "
                        "real positions such as sinusoidal, rope or alibi",
                        options.base));
      }
    }
    return make_encoding(base, shape, layout);
  }

  double range_;  // S
};

const RegisterEncoding<RandomFloat> registered{{
    .name = "random_float",
    .family = Family::wrapper,
    .equation =
        "the base's, with p_t for t: T numbers drawn from [0, S) and sorted in training, (2t + 1) / (2 max(L, "
        "T)) S in evaluation",
    .source = "Shimizu et al. 2026, arXiv:2602.14050",
    .notes =
        "Of the paper only the introduction and quotations of its formulas could be read; the range S = L is ours.",
    .touches = "P",
    .extrapolates = Extrapolation::yes,
    .relative = Relative::as_base,
    .content_dependent = "no",
    .distinct = Distinct::as_base,
    .distance_decay = DistanceDecay::as_base,
    .variants = {"base=alibi", "base=kerple_log", "base=rope,range=1", "base=txl"},
}};

}  // namespace
}  // namespace posbench
