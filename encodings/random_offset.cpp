// Random offset: in training all positions of a sequence are shifted by an offset drawn for it, so that every
// position up to the longest is trained, by sequences of any length.
//
//   p_t = t + o,   o uniform over 0 .. longest - T in training, 0 in evaluation
//   range=K: o uniform over 0 .. K, whatever the length
//
// Huang et al. 2024, arXiv:2410.02140; lacoco-lab/length_generalization, whose learned absolute embeddings are the
// default base, with a row for every position up to the longest of any split. range=K is SHAPE: Kiyono et al.
// 2021, arXiv:2109.05644, with sinusoids and K = 500. For relative bases nothing changes, and they are refused.
#include "encodings/parts/decorator.h"
#include "encodings/registry.h"

namespace posbench {
namespace {

class RandomOffset final : public Decorator {
 public:
  struct Options {
    std::string base = "learned_abs";
    int range = 0;
    std::string wrapped() const { return base; }
    void describe(OptionTable& o) {
      o.text("base", base, "an encoding of absolute positions", "the encoding that gets the positions");
      o.integer("range", range, 0, 1 << 20, "K, the largest offset; 0: as far as the longest sequence reaches");
    }
  };

  RandomOffset(const Options& options, const ModelShape& shape, ParameterLayout& layout)
      : Decorator(shape, checked_base(options, shape, layout)), range_(options.range) {}

  Positions positions(const Sequence& s, Rng& rng) const override {
    Positions positions = inner().positions(s, rng);
    if (!s.training) return positions;
    const int room = std::max(0, shape_.longest - static_cast<int>(positions.size()));
    const int offset = uniform(rng, 0, range_ > 0 ? range_ : room);
    for (Real& p : positions.at) p += static_cast<Real>(offset);
    return positions;
  }

 private:
  static std::unique_ptr<PositionEncoding> checked_base(const Options& options, const ModelShape& shape,
                                                        ParameterLayout& layout) {
    require_positions("random_offset", options.base);
    const Spec base = Spec::parse(options.base);
    if (encodings().find(innermost(base).name).info.relative.value == Relative::yes) {
      throw std::invalid_argument(
          fmt::format("encoding 'random_offset': base is '{}', whose scores an offset of all positions does not "
                      "change; expected "
                      "an encoding of absolute positions such as learned_abs or sinusoidal",
                      options.base));
    }
    return make_encoding(base, with_lengths(shape, shape.longest + options.range), layout);
  }

  int range_;
};

const RegisterEncoding<RandomOffset> registered{{
    .name = "random_offset",
    .family = Family::wrapper,
    .equation =
        "the base's, with t + o for t: o drawn for every training sequence, up to the longest one's end; 0 in "
        "evaluation",
    .source = "Huang et al. 2024, arXiv:2410.02140; lacoco-lab/length_generalization; Kiyono et al. 2021, "
              "arXiv:2109.05644",
    .notes = "Everything but the positions is as the base: trained up to the longest sequence. Sequences of the "
             "longest length always start at 0, so that early positions are trained more often than late ones.",
    .touches = "P",
    .extrapolates = Extrapolation::yes,
    .relative = Relative::as_base,
    .content_dependent = "no",
    .distinct = Distinct::as_base,
    .distance_decay = DistanceDecay::as_base,
    .variants = {"base=fire", "base=sinusoidal,range=500", "base=tupe_a"},
}};

}  // namespace
}  // namespace posbench
