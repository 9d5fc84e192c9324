// RoPE: queries and keys rotated, pair by pair, by an angle that grows with position; scores see differences of
// angles.
//
//   score_h(i, j) = R(p_i) q_i . R(p_j) k_j / sqrt(D),   R(p) rotates pair n by p w_n,   w_n = base^(-2 n / D)
//
// Su et al. 2021, arXiv:2104.09864, section 3.2. Which components make a pair is a convention: interleaved as in
// RoFormer (the default), or half a head apart as in GPT-NeoX and LLaMA.
#include "encodings/registry.h"
#include "encodings/parts/rotary.h"

namespace posbench {
namespace {

class Rope final : public Rotary {
 public:
  struct Options {
    double base = 10000;
    Pairing pairing = Pairing::interleaved;
    void describe(OptionTable& o) {
      o.number("base", base, 1.001, 1e9, "the slowest pair turns once in about 2 pi base positions");
      o.choice("pairing", pairing, {"interleaved", "half_split"}, "components 2n and 2n + 1, or n and n + D/2");
    }
  };

  Rope(const Options& options, const ModelShape& shape, ParameterLayout&)
      : Rotary(shape, options.pairing, "rope"), options_(options) {}

  Spectrum spectrum() const override {
    return {rope_frequencies(shape_.head_width(), options_.base), shape_.head_width(), options_.base};
  }

 private:
  Options options_;
};

const RegisterEncoding<Rope> registered{{
    .name = "rope",
    .family = Family::rotary,
    .equation = "score(i, j) = R(i) q_i . R(j) k_j / sqrt(D),   R(p) rotates pair n by p base^(-2n / D)",
    .source = "Su et al. 2021, arXiv:2104.09864; ZhuiyiTechnology/roformer, EleutherAI/gpt-neox",
    .notes = "Both pairings are the same function class; weights are not interchangeable.",
    .touches = "R",
    .takes_positions = TakesPositions::positions,
    .extrapolates = Extrapolation::defined,
    .relative = Relative::yes,
    .content_dependent = "no",
    .variants = {"pairing=half_split"},
}};

}  // namespace
}  // namespace posbench
