// Adds a fixed vector of sines and cosines of the position to the token embedding. A step of k positions is a
// rotation R(k) that does not depend on p, S(p + k) = R(k) S(p): pair n is multiplied by
//   [[cos(k w_n), sin(k w_n)], [-sin(k w_n), cos(k w_n)]]
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "encodings/aliases.h"
#include "encodings/registry.h"

namespace posbench::sinusoidal {
namespace {

const EncodingInfo kInfo{
    .name = "sinusoidal",
    .family = Family::absolute,
    .equation =
        "x_t += scale S(p_t)\n"
        "S(p)[2n] = sin(p w_n),   S(p)[2n + 1] = cos(p w_n),   w_n = base^(-2n / C)",
    .source = "Vaswani et al. 2017, arXiv:1706.03762, section 3.5; tensorflow/tensor2tensor",
    .used_in = {"Transformer"},
    .notes =
        "The paper multiplies token embeddings of deviation C^-0.5 by sqrt(C). Embeddings start with "
        "deviation 1 here, which is the same ratio. tensor2tensor places all sines before all cosines "
        "(layout=concatenated) and spreads the exponents over C / 2 - 1 (spread=tensor2tensor).",
    .takes_positions = TakesPositions::positions,
    .extrapolates = Extrapolation::defined,
    .relative = Relative::no,
    .content_dependent = "no",
    .variants = {"layout=concatenated,spread=tensor2tensor,scale=3"},
};

enum class Arrangement { interleaved, concatenated };
enum class Spread { paper, tensor2tensor };

class Sinusoidal final : public PositionEncoding {
 public:
  struct Options {
    double base = 10000, scale = 1;
    Arrangement layout = Arrangement::interleaved;
    Spread spread = Spread::paper;
    void describe(OptionTable& o) {
      o.number("base", base, 1.001, 1e9, "base of the frequencies; the longest wavelength is about 2 pi base");
      o.number("scale", scale, 0, 1000, "factor of the sinusoids; token embeddings start with deviation 1");
      o.choice("layout", layout, {"interleaved", "concatenated"},
               "order of the components: sine next to cosine, or all sines first");
      o.choice("spread", spread, {"paper", "tensor2tensor"},
               "exponents of the base: -2n / C, or -n / (C / 2 - 1)");
    }
  };

  Sinusoidal(const Options& options, const ModelConfig& config, ParameterLayout&)
      : PositionEncoding(config), options_(options) {
    if (config.width % 2 != 0) {
      throw InputError(fmt::format("encoding 'sinusoidal' pairs sines with cosines: width must be even, and is {}",
                                   config.width));
    }
  }

  void tables(const Parameters&, const Positions& positions, Tables& tables) const override {
    const Index pairs = config_.width / 2;
    const bool interleaved = options_.layout == Arrangement::interleaved;
    Matrix& sinusoids = tables.constants<Constants>().sinusoids;
    sinusoids.resize(positions.size(), config_.width);
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

const RegisterEncoding<Sinusoidal> registered{kInfo};
const RegisterAliases aliases{kInfo.name, {"sin", "absolute", "ape"}};

}  // namespace
}  // namespace posbench::sinusoidal
