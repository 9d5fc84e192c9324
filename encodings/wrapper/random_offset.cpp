// Shifts all positions of a training sequence by a random offset.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>

#include "base/error.h"
#include "encodings/parts/decorator.h"
#include "encodings/registry.h"

namespace posbench::random_offset {
namespace {

const EncodingInfo kInfo{
    .name = "random_offset",
    .family = Family::wrapper,
    .equation =
        "the base's, with t + o for t\n"
        "o is uniform over 0 .. longest - T in training, and 0 in evaluation\n"
        "range=K: o is uniform over 0 .. K for every length",
    .source =
        "Huang et al. 2024, arXiv:2410.02140; lacoco-lab/length_generalization; Kiyono et al. 2021, "
        "arXiv:2109.05644",
    .notes =
        "Sequences of any length train every position up to the longest of any split. Sequences of the "
        "longest length always start at 0, so that early positions are trained more often than late ones. "
        "The default base, learned_abs, is that of Huang et al. range=K is SHAPE (Kiyono et al.), with "
        "sinusoids and K = 500. The longest length plus K is also the trained length of the base. An offset does not "
        "change relative bases, and they are refused.",
    .extrapolates = Extrapolation::yes,
    .relative = Relative::as_base,
    .content_dependent = "no",
    .distinct = Distinct::as_base,
    .distance_decay = DistanceDecay::as_base,
    .variants = {"base=fire", "base=sinusoidal,range=500", "base=tupe_a"},
};

class RandomOffset final : public Decorator {
 public:
  struct Options {
    std::string base = "learned_abs";
    int range = 0;
    std::string wrapped() const { return base; }
    bool chooses_positions() const { return true; }
    void describe(OptionTable& o) {
      o.text("base", base, "an encoding of absolute positions", "encoding that gets the positions");
      o.integer("range", range, 0, 1 << 20, "K, the largest offset; 0: up to the end of the longest sequence");
    }
  };

  RandomOffset(const Options& options, const ModelConfig& config, ParameterLayout& layout)
      : Decorator(config, checked_base(options, config, layout)), range_(options.range) {}

  Positions positions(const Sequence& s, Rng& rng) const override {
    Positions positions = inner().positions(s, rng);
    if (!s.training) return positions;
    const int largest = std::max(0, config_.longest - static_cast<int>(positions.size()));
    const int offset = uniform(rng, 0, range_ > 0 ? range_ : largest);
    for (Real& p : positions.at) p += static_cast<Real>(offset);
    return positions;
  }

 private:
  static std::unique_ptr<PositionEncoding> checked_base(const Options& options, const ModelConfig& config,
                                                        ParameterLayout& layout) {
    require_positions("random_offset", options.base);
    const Spec base = Spec::parse(options.base);
    if (encodings().find(innermost(base).name).info.relative.value == Relative::yes) {
      throw InputError(
          fmt::format("encoding 'random_offset': base is '{}', whose scores do not change with an offset of all "
                      "positions; expected an encoding of absolute positions such as learned_abs or sinusoidal",
                      options.base));
    }
    return make_encoding(base, with_lengths(config, config.longest + options.range), layout);
  }

  int range_;  // K, or 0
};

const RegisterEncoding<RandomOffset> registered{kInfo};

}  // namespace
}  // namespace posbench::random_offset
