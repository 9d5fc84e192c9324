// Sinusoidal: a fixed vector of sines and cosines for each position, added to the token embedding.
//
//   x_t += scale * S(p_t),   S(p)[2 n] = sin(p w_n),   S(p)[2 n + 1] = cos(p w_n),   w_n = base^(-2 n / C)
//
// Vaswani et al. 2017, arXiv:1706.03762, section 3.5, which multiplies token embeddings of deviation C^-0.5 by
// sqrt(C): ours start with deviation 1, which is the same ratio. tensor2tensor lays out all sines, then all
// cosines (layout=concatenated), and spreads the exponents over C / 2 - 1 (spread=tensor2tensor).
#include <cmath>

#include "encodings/registry.h"

namespace posbench {
namespace {

enum class Arrangement { interleaved, concatenated };
enum class Spread { paper, tensor2tensor };

class Sinusoidal final : public PositionEncoding {
 public:
  struct Options {
    double base = 10000, scale = 1;
    Arrangement layout = Arrangement::interleaved;
    Spread spread = Spread::paper;
    void describe(OptionTable& o) {
      o.number("base", base, 1.001, 1e9, "longest wavelength, over 2 pi");
      o.number("scale", scale, 0, 1000, "factor of the sinusoids; token embeddings start with deviation 1");
      o.choice("layout", layout, {"interleaved", "concatenated"}, "sine beside cosine, or all sines first");
      o.choice("spread", spread, {"paper", "tensor2tensor"}, "exponents -2n/C, or -n/(C/2 - 1)");
    }
  };

  Sinusoidal(const Options& options, const ModelShape& shape, ParameterLayout&)
      : PositionEncoding(shape), options_(options) {
    if (shape.width % 2 != 0) {
      throw std::invalid_argument(fmt::format(
          "encoding 'sinusoidal' pairs sines with cosines: width must be even, and is {}", shape.width));
    }
  }

  void tables(const Parameters&, const Positions& positions, Tables& tables) const override {
    const Index pairs = shape_.width / 2;
    const bool interleaved = options_.layout == Arrangement::interleaved;
    Matrix& sinusoids = tables.constants<Constants>().sinusoids;
    sinusoids.resize(positions.size(), shape_.width);
    for (Index n = 0; n < pairs; ++n) {
      const Index denominator = options_.spread == Spread::paper ? pairs : std::max<Index>(1, pairs - 1);
      const double frequency = std::pow(options_.base, -static_cast<double>(n) / static_cast<double>(denominator));
      const Index sine = interleaved ? 2 * n : n, cosine = interleaved ? 2 * n + 1 : pairs + n;
      for (Index t = 0; t < positions.size(); ++t) {
        const double angle = static_cast<double>(positions.at[t]) * frequency;
        sinusoids(t, sine) = static_cast<Real>(options_.scale * std::sin(angle));
        sinusoids(t, cosine) = static_cast<Real>(options_.scale * std::cos(angle));
      }
    }
  }

  void embed(const Sequence&, const Parameters&, const Tables& tables, Matrix& x, Matrices&) const override {
    x += tables.constants<Constants>().sinusoids.topRows(x.rows());
  }

 private:
  struct Constants {
    Matrix sinusoids;  // (T, C)
  };

  Options options_;
};

const RegisterEncoding<Sinusoidal> registered{{
    .name = "sinusoidal",
    .family = Family::absolute,
    .equation =
        "x_t += scale * S(t),   S(t)[2n] = sin(t w_n),   S(t)[2n + 1] = cos(t w_n),   w_n = base^(-2n / C)",
    .source = "Vaswani et al. 2017, arXiv:1706.03762, section 3.5; tensorflow/tensor2tensor",
    .notes = "tensor2tensor concatenates sines and cosines and spreads exponents over C/2 - 1: options layout and "
             "spread.",
    .touches = "E",
    .takes_positions = TakesPositions::positions,
    .extrapolates = Extrapolation::defined,
    .relative = Relative::no,
    .content_dependent = "no",
    .variants = {"layout=concatenated,spread=tensor2tensor,scale=3"},
}};

}  // namespace
}  // namespace posbench
