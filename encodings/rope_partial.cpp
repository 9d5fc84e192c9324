// Partial RoPE: only the first components of every head are rotated; the others carry no position.
//
//   score_h(i, j) = R(p_i) q_i . R(p_j) k_j / sqrt(D)
//   R(p)          rotates pair n < R / 2 by p w_n,   w_n = base^(-2 n / R)
//
// R = 2 floor(fraction D / 2), at least 2, or option `width`: the whole spectrum on fewer pairs. GPT-J (Wang
// and Komatsuzaki 2021) and GPT-NeoX (Black et al. 2022, arXiv:2204.06745), whose quarter of a head is the default
// here; the `rope` of Kazemnejad et al. 2023, arXiv:2305.19466, is this one.
#include "encodings/registry.h"
#include "encodings/parts/rotary.h"

namespace posbench {
namespace {

class RopePartial final : public Rotary {
 public:
  struct Options {
    double fraction = 0.25, base = 10000;
    int width = 0;
    Pairing pairing = Pairing::interleaved;
    void describe(OptionTable& o) {
      o.number("fraction", fraction, 0.001, 1,
               "the fraction of each head's components that is rotated; at least one pair");
      o.integer("width", width, 0, 1 << 16, "rotated components, an even number; 0: given by `fraction`");
      o.number("base", base, 1.001, 1e9, "the slowest pair turns once in about 2 pi base positions");
      o.choice("pairing", pairing, {"interleaved", "half_split"}, "components 2n and 2n + 1, or n and n + R/2");
    }
  };

  RopePartial(const Options& options, const ModelShape& shape, ParameterLayout&)
      : Rotary(shape, options.pairing, "rope_partial"), base_(options.base), rotated_(options.width) {
    if (rotated_ == 0)
      rotated_ = std::max<Index>(2, 2 * static_cast<Index>(options.fraction * shape.head_width() / 2));
    if (rotated_ % 2 != 0 || rotated_ > shape.head_width()) {
      throw std::invalid_argument(
          fmt::format("encoding 'rope_partial': width is {}, expected an even number up to the head width, {}",
                      rotated_, shape.head_width()));
    }
  }

  Spectrum spectrum() const override { return {rope_frequencies(rotated_, base_), rotated_, base_}; }

 private:
  double base_;
  Index rotated_;  // R
};

const RegisterEncoding<RopePartial> registered{{
    .name = "rope_partial",
    .family = Family::rotary,
    .equation =
        "score(i, j) = R(i) q_i . R(j) k_j / sqrt(D),   R(p) rotates pair n < R / 2 by p base^(-2n / R), R < D",
    .source = "Wang and Komatsuzaki 2021 (GPT-J); Black et al. 2022, arXiv:2204.06745; EleutherAI/gpt-neox",
    .notes = "Frequencies are those of a head of width R: the full spectrum on fewer pairs.",
    .touches = "R",
    .takes_positions = TakesPositions::positions,
    .extrapolates = Extrapolation::defined,
    .relative = Relative::yes,
    .content_dependent = "no",
    .variants = {"pairing=half_split", "width=4"},
}};

}  // namespace
}  // namespace posbench
