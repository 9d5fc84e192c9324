// Slows the angles of a rotary encoding, so that longer sequences stay within the angles of the original length.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <string>
#include <vector>

#include "base/error.h"
#include "encodings/parts/decorator.h"
#include "encodings/parts/rotary.h"
#include "encodings/registry.h"

namespace posbench {
namespace {

const EncodingInfo kInfo{
    .name = "interpolated",
    .family = Family::rotary,
    .equation =
        "linear:      p -> p / s\n"
        "ntk:         w_n -> w_n s^(-2n / (d - 2)), which is base -> base s^(d / (d - 2))\n"
        "ntk_dynamic: as ntk with s = alpha T / L - (alpha - 1) if T > L; unchanged otherwise\n"
        "yarn:        w_n -> w_n / s ramp_n + w_n (1 - ramp_n), and queries and keys times 0.1 ln s + 1\n"
        "ramp=code:   ramp_n = clamp((n - low) / (high - low), 0, 1),   "
        "low and high the rounded pairs that turn beta_fast and beta_slow times within L\n"
        "ramp=paper:  ramp_n = 1 - clamp((r - beta_slow) / (beta_fast - beta_slow), 0, 1),   "
        "r = L w_n / 2 pi\n"
        "s = L' / L is the extension of the original length L;   w_n = base^(-2n / d) are the base's "
        "frequencies, before some become 0",
    .source =
        "Chen et al. 2023, arXiv:2306.15595; Peng et al. 2023, arXiv:2309.00071; jquesnelle/yarn; "
        "resonance: Wang et al. 2024, arXiv:2403.00071",
    .notes =
        "linear is that of Chen et al. The other methods are those of Peng et al. in jquesnelle/yarn, "
        "whose ramp is linear in the pair's index (the default). The paper's ramp is linear in the turns r "
        "within L. With ntk the fastest pair keeps its frequency, and that of the slowest pair is divided "
        "by s. The papers extend a trained model and tune it briefly. Here a model trains with the slower "
        "angles from the start, and longer sequences leave their range; only ntk_dynamic does not change "
        "the trained lengths. resonance=true rounds the resulting wavelengths to whole tokens, as "
        "Resonance YaRN does. Over xpos, linear slows the decay too, and the other methods do not.",
    .extrapolates = {Extrapolation::defined, "but yes after training without it"},
    .relative = Relative::yes,
    .content_dependent = "no",
    .variants = {"base=(rope:pairing=half_split),method=yarn,scale=4,original=100",
                 "base=rope_hope,method=ntk,scale=4", "base=rope_p,method=yarn,scale=4,ramp=paper,original=30",
                 "base=rope_partial,scale=4", "base=xpos,scale=4", "method=ntk,scale=4",
                 "method=ntk_dynamic,original=6,alpha=2", "method=yarn,scale=4,original=100,resonance=true"},
};

enum class Method { linear, ntk, ntk_dynamic, yarn };
enum class Ramp { code, paper };

/// Returns the rotary encoding that `text` names. Throws InputError if it is not rotary.
std::unique_ptr<PositionEncoding> make_rotary(const std::string& text, const ModelConfig& config,
                                              ParameterLayout& layout) {
  const Spec spec = Spec::parse(text);
  if (encodings().find(spec.name).is_rotary) return make_encoding(spec, config, layout);
  std::vector<std::string> names = encodings().names();
  std::erase_if(names, [](const std::string& name) { return !encodings().find(name).is_rotary; });
  throw InputError(fmt::format("encoding 'interpolated': base is '{}', expected one of the rotary ones: {}", text,
                               fmt::join(names, ", ")));
}

class Interpolated final : public Decorator {
 public:
  struct Options {
    std::string base = "rope";
    Method method = Method::linear;
    double scale = 0, alpha = 1, beta_fast = 32, beta_slow = 1;
    int original = 0;
    Ramp ramp = Ramp::code;
    bool resonance = false;
    std::string wrapped() const { return base; }
    void describe(OptionTable& o) {
      o.text("base", base, "a rotary encoding", "encoding whose angles are slowed down");
      o.choice("method", method, {"linear", "ntk", "ntk_dynamic", "yarn"},
               "which angles are slowed down how much");
      o.number("scale", scale, 0, 1e6,
               "s; 0: the longest sequence of any split over the original length, at least 1");
      o.integer("original", original, 0, 1 << 20, "L, the original length; 0: the trained length");
      o.number("alpha", alpha, 0.01, 1000, "ntk_dynamic: how fast s grows with the length");
      o.number("beta_fast", beta_fast, 0.01, 1e6,
               "yarn: pairs that turn more often within L keep their frequency");
      o.number("beta_slow", beta_slow, 0.01, 1e6,
               "yarn: pairs that turn less often within L are slowed down by s");
      o.choice("ramp", ramp, {"code", "paper"}, "yarn: linear in the pair's index, or in its turns within L");
      o.flag("resonance", resonance, "round the resulting wavelengths to whole tokens; not for linear");
    }
  };

  Interpolated(const Options& options, const ModelConfig& config, ParameterLayout& layout)
      : Decorator(config, make_rotary(options.base, config, layout)),
        options_(options),
        rotary_(static_cast<const Rotary&>(inner())),
        length_(options.original > 0 ? options.original : config.trained_length),
        scale_(options.scale > 0 ? options.scale : std::max(1.0, config.longest / length_)) {
    const bool ntk = options.method == Method::ntk || options.method == Method::ntk_dynamic;
    if (ntk && rotary_.spectrum().width < 4) {
      throw InputError(fmt::format(
          "encoding 'interpolated': method {} spreads the extension over pairs and needs two or more, and base "
          "'{}' rotates one in a head of width {}",
          options.method == Method::ntk ? "ntk" : "ntk_dynamic", options.base, config.head_width()));
    }
    if (options.resonance && options.method == Method::linear) {
      throw InputError(
          "encoding 'interpolated': method linear divides positions, whose wavelengths cannot be rounded; "
          "leave out resonance, or take method ntk, ntk_dynamic or yarn");
    }
    if (options.beta_fast <= options.beta_slow) {
      throw InputError(fmt::format("encoding 'interpolated': beta_fast is {}, expected more than beta_slow, {}",
                                   options.beta_fast, options.beta_slow));
    }
  }

  Positions positions(const Sequence& s, Rng& rng) const override {
    Positions positions = inner().positions(s, rng);
    positions.depends_on_length |= options_.method == Method::ntk_dynamic;  // its angles depend on T
    return positions;
  }

  void tables(const Parameters&, const Positions& positions, Tables& tables) const override {
    Spectrum spectrum = rotary_.spectrum();
    Rotations& rotations = tables.constants<Rotations>();
    switch (options_.method) {
      case Method::linear: {
        Positions nearer = positions;
        for (Real& p : nearer.at) p /= static_cast<Real>(scale_);
        return rotary_.rotations(nearer, spectrum, rotations);
      }
      case Method::ntk:
        change_base(scale_, spectrum);
        break;
      case Method::ntk_dynamic: {
        const double T = static_cast<double>(positions.size());
        if (T > length_) change_base(options_.alpha * T / length_ - (options_.alpha - 1), spectrum);
        break;
      }
      case Method::yarn:
        for (size_t n = 0; n < spectrum.frequencies.size(); ++n) {
          const double w = spectrum.frequencies[n], ramp = this->ramp(spectrum, n);
          spectrum.frequencies[n] = w / scale_ * ramp + w * (1 - ramp);
        }
        if (scale_ > 1) spectrum.amplitude *= 0.1 * std::log(scale_) + 1;
        break;
    }
    if (options_.resonance) round_wavelengths(spectrum.frequencies);
    rotary_.rotations(positions, spectrum, rotations);
  }

 private:
  static void change_base(double scale, Spectrum& spectrum) {
    const double d = static_cast<double>(spectrum.width);
    for (size_t n = 0; n < spectrum.frequencies.size(); ++n) {
      spectrum.frequencies[n] *= std::pow(scale, -2.0 * static_cast<double>(n) / (d - 2));
    }
  }

  /// Returns the fraction by which pair n is slowed down.
  double ramp(const Spectrum& spectrum, size_t n) const {
    if (options_.ramp == Ramp::paper) {
      const double turns = length_ * spectrum.frequencies[n] / (2 * std::numbers::pi);
      return 1 - std::clamp((turns - options_.beta_slow) / (options_.beta_fast - options_.beta_slow), 0.0, 1.0);
    }
    const double d = static_cast<double>(spectrum.width);
    const auto pair_that_turns = [&](double times) {
      return d * std::log(length_ / (2 * std::numbers::pi * times)) / (2 * std::log(spectrum.base));
    };
    const double low = std::max(std::floor(pair_that_turns(options_.beta_fast)), 0.0);
    double high = std::min(std::ceil(pair_that_turns(options_.beta_slow)), d - 1);
    high = std::max(high, low + 0.001);
    return std::clamp((static_cast<double>(n) - low) / (high - low), 0.0, 1.0);
  }

  Options options_;
  const Rotary& rotary_;   // inner()
  double length_, scale_;  // L, s
};

const RegisterEncoding<Interpolated> registered{kInfo};

}  // namespace
}  // namespace posbench
