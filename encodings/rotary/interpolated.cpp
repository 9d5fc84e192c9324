// Slows the angles of a rotary encoding, so that longer sequences stay within the angles of the original length.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "encodings/methods.h"
#include "encodings/parts/decorator.h"
#include "encodings/parts/require_use.h"
#include "encodings/parts/rotary.h"
#include "encodings/registry.h"

namespace posbench::interpolated {
namespace {

const EncodingInfo kInfo{
    .name = "interpolated",
    .family = Family::rotary,
    .equation =
        "linear:      p -> p / s\n"
        "ntk:         w_n -> w_n s^(-2n / (d - 2)), which is base -> base s^(d / (d - 2))\n"
        "ntk_dynamic: as ntk with s = alpha T / L - (alpha - 1) if T > L; unchanged otherwise\n"
        "yarn:        w_n -> w_n / s ramp_n + w_n (1 - ramp_n), and queries and keys times 0.1 ln s + 1\n"
        "llama3:      as yarn with ramp_n = 1 - clamp((r - low) / (high - low), 0, 1), r = L w_n / 2 pi, "
        "low = low_freq_factor, high = high_freq_factor, and queries and keys unchanged\n"
        "longrope:    w_n -> w_n / f_n, and queries and keys times sqrt(1 + ln s / ln L);   "
        "f is long_factor if T > L, else short_factor\n"
        "ramp=code:   ramp_n = clamp((n - low) / (high - low), 0, 1),   "
        "low and high the pairs that turn beta_fast and beta_slow times within L, rounded outward unless "
        "truncate=false, and within 0 and d - 1\n"
        "ramp=paper:  ramp_n = 1 - clamp((r - beta_slow) / (beta_fast - beta_slow), 0, 1),   "
        "r = L w_n / 2 pi\n"
        "s = L' / L is the extension of the original length L;   w_n = base^(-2n / d) are the base's "
        "frequencies, before some become 0",
    .source =
        "Chen et al. 2023, arXiv:2306.15595; Peng et al. 2023, arXiv:2309.00071; jquesnelle/yarn; "
        "truncate: openai/gpt-oss and huggingface/transformers; "
        "llama3: Grattafiori et al. 2024, arXiv:2407.21783, and huggingface/transformers; "
        "longrope: Ding et al. 2024, arXiv:2402.13753, microsoft/LongRoPE and huggingface/transformers; "
        "resonance: Wang et al. 2024, arXiv:2403.00071",
    .used_in = {"Llama 3.1", "Llama 3.2", "Phi-3", "Phi-4-mini"},
    .notes =
        "linear is that of Chen et al. ntk, ntk_dynamic and yarn are those of Peng et al. in jquesnelle/yarn, "
        "whose ramp is linear in the pair's index (the default). The paper's ramp is linear in the turns r "
        "within L. gpt-oss has truncate=false. With L = 4, base 10000 and heads of 42 or more components, high "
        "is below low: the code and ramp=code change no frequency, and the paper's ramp slows all. mscale and "
        "mscale_all_dim of huggingface/transformers give attention_factor = (0.1 mscale ln s + 1) / (0.1 "
        "mscale_all_dim ln s + 1), which is 1 in DeepSeek-V3. Its models also multiply all scores by (0.1 "
        "mscale_all_dim ln s + 1)^2; over a base that turns all pairs, attention_factor = 0.1 mscale ln s + 1 "
        "has both. With ntk the fastest pair keeps its frequency, and that of the slowest pair is divided by s. "
        "The papers extend a trained model and tune it briefly. Here a model trains with the slower angles from "
        "the start, and longer sequences leave their range; only ntk_dynamic does not change the trained "
        "lengths, and longrope changes only their temperature. resonance=true rounds the resulting wavelengths "
        "to whole tokens, as Resonance YaRN does. Over xpos, linear slows the decay too, and the other methods "
        "do not. llama3 counts turns within L, which is 8192 in Llama 3.1 and the trained length here. Below L = "
        "26 no pair of base rope turns high_freq_factor = 4 times, so every pair slows down. The factors of "
        "longrope are found by a search on a trained model. Here the default of long_factor is the point where "
        "the search of microsoft/LongRoPE starts, f_n = 1 + (s - 1) ramp_n with the ramp of yarn, and that of "
        "short_factor is 1, which that code uses up to L. Published lists hold only for the head width, the base "
        "and the L of their model. The paper also leaves the first positions unchanged. The code that deploys "
        "longrope does not, and neither does posbench. The temperature of longrope is that of the extended model "
        "at all lengths.",
    .extrapolates = {Extrapolation::defined, "but yes after training without it"},
    .relative = Relative::yes,
    .content_dependent = "no",
    .variants = {"base=(rope:pairing=half_split),method=yarn,scale=4,original=100",
                 "base=rope_hope,method=ntk,scale=4", "method=yarn,scale=4,original=1000,truncate=false",
                 "base=rope_p,method=yarn,scale=4,ramp=paper,original=30", "base=rope_partial,scale=4",
                 "base=(rope:values=rotated),method=yarn,scale=4,original=100", "base=xpos,scale=4",
                 "method=ntk,scale=4", "method=ntk_dynamic,original=6,alpha=2",
                 "method=yarn,scale=4,original=100,resonance=true", "method=llama3,scale=4,original=20",
                 "method=longrope,scale=4,original=6",
                 "method=longrope,scale=4,original=6,short_factor=1.5,long_factor=3,attention_factor=1.2"},
};

enum class Method { linear, ntk, ntk_dynamic, yarn, llama3, longrope };
enum class Ramp { code, paper };

class Interpolated final : public Decorator {
 public:
  struct Options {
    std::string base = "rope";
    Method method = Method::linear;
    double scale = 0, alpha = 1, beta_fast = 32, beta_slow = 1, low_freq_factor = 1, high_freq_factor = 4;
    double attention_factor = 0;
    std::string short_factor = "1", long_factor;
    int original = 0;
    Ramp ramp = Ramp::code;
    bool resonance = false, truncate = true;
    std::string wrapped() const { return base; }
    void describe(OptionTable& o) {
      o.text("base", base, "a rotary encoding", "encoding whose angles are slowed down");
      o.choice("method", method, {"linear", "ntk", "ntk_dynamic", "yarn", "llama3", "longrope"},
               "which angles are slowed down how much");
      o.number("scale", scale, 0, 1e6,
               "s, 1 or more; 0: the longest sequence of any split over the original length, at least 1");
      o.integer("original", original, 0, 1 << 20, "L, the original length; 0: the trained length");
      o.number("alpha", alpha, 0.01, 1000, "ntk_dynamic: how fast s grows with the length");
      o.number("beta_fast", beta_fast, 0.01, 1e6,
               "yarn: pairs that turn more often within L keep their frequency");
      o.number("beta_slow", beta_slow, 0.01, 1e6,
               "yarn: pairs that turn less often within L are slowed down by s");
      o.choice("ramp", ramp, {"code", "paper"}, "yarn: linear in the pair's index, or in its turns within L");
      o.flag("truncate", truncate, "ramp=code: round the ends of the ramp to whole pairs");
      o.number("low_freq_factor", low_freq_factor, 0.01, 1e6,
               "llama3: pairs that turn less often within L are slowed down by s");
      o.number("high_freq_factor", high_freq_factor, 0.01, 1e6,
               "llama3: pairs that turn more often within L keep their frequency");
      const std::string expected = "a number, or one for each pair as in 1/1.2/3.5";
      o.text("short_factor", short_factor, expected, "longrope: divisors of the frequencies up to length L");
      o.text("long_factor", long_factor, expected,
             "longrope: divisors of the frequencies beyond length L; empty: 1 + (s - 1) ramp_n with yarn's ramp");
      o.number("attention_factor", attention_factor, 0, 1e3,
               "factor of rotated queries and keys; 0: the method's, which is 1 except for yarn and longrope");
      o.flag("resonance", resonance, "round the resulting wavelengths to whole tokens; not for linear");
    }
  };

  Interpolated(const Options& options, const ModelConfig& config, ParameterLayout& layout)
      : Decorator(config, make_rotary(kInfo.name, options.base, config, layout)),
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
          "leave out resonance, or take another method");
    }
    if (options.scale > 0 && options.scale < 1) {
      throw InputError(
          fmt::format("encoding 'interpolated': scale is {}, expected 1 or more, or 0 for the longest sequence",
                      options.scale));
    }
    const bool has_ramp = options.method == Method::yarn || options.method == Method::longrope;
    require_use("alpha", options.alpha, Options{}.alpha, options.method == Method::ntk_dynamic);
    require_use("beta_fast", options.beta_fast, Options{}.beta_fast, has_ramp);
    require_use("beta_slow", options.beta_slow, Options{}.beta_slow, has_ramp);
    require_use("ramp", std::string_view(options.ramp == Ramp::paper ? "paper" : "code"), "code", has_ramp);
    require_use("truncate", options.truncate, true, has_ramp && options.ramp == Ramp::code);
    require_use("low_freq_factor", options.low_freq_factor, Options{}.low_freq_factor,
                options.method == Method::llama3);
    require_use("high_freq_factor", options.high_freq_factor, Options{}.high_freq_factor,
                options.method == Method::llama3);
    require_use("short_factor", options.short_factor, Options{}.short_factor, options.method == Method::longrope);
    require_use("long_factor", options.long_factor, Options{}.long_factor, options.method == Method::longrope);
    if (has_ramp) require_order("beta_slow", options.beta_slow, "beta_fast", options.beta_fast);
    if (options.method == Method::llama3)
      require_order("low_freq_factor", options.low_freq_factor, "high_freq_factor", options.high_freq_factor);
    if (options.method == Method::longrope) {
      short_ = read_factors("short_factor", options.short_factor);
      if (!options.long_factor.empty()) long_ = read_factors("long_factor", options.long_factor);
      if (scale_ > 1 && length_ < 2)
        throw InputError("encoding 'interpolated': method longrope divides by ln L; set original to 2 or more");
    }
  }

  Positions positions(const Sequence& s, Rng& rng) const override {
    Positions positions = inner().positions(s, rng);
    positions.depends_on_length |=
        options_.method == Method::ntk_dynamic || options_.method == Method::longrope;  // angles depend on T
    return positions;
  }

  void tables(const Parameters&, const Positions& positions, Tables& tables) const override {
    Rotations& rotations = tables.constants<Rotations>();
    const double middle = middle_of(positions);
    if (options_.method == Method::linear) {
      Positions nearer = positions;
      for (Real& p : nearer.at) p /= static_cast<Real>(scale_);
      return rotary_.rotations(nearer, spectrum_of(0), middle_of(nearer), rotations);
    }
    if (positions.lengths.empty())
      return rotary_.rotations(positions, spectrum_of(static_cast<double>(positions.size())), middle, rotations);
    for (Index t = 0; t < positions.size(); ++t) rotate_token(positions, t, middle, rotations);
  }

 private:
  template <class Value>
  static void require_use(const char* option, const Value& value, const std::type_identity_t<Value>& standard,
                          bool is_used) {
    posbench::require_use(kInfo.name, option, value, standard, is_used, "its method");
  }
  static void require_order(const char* low, double low_value, const char* high, double high_value) {
    if (low_value < high_value) return;
    throw InputError(fmt::format("encoding 'interpolated': {} is {} and {} is {}; expected {} < {}", low,
                                 low_value, high, high_value, low, high));
  }

  /// Returns the factor of each pair. Throws InputError.
  std::vector<double> read_factors(const char* option, const std::string& text) const {
    const size_t pairs = rotary_.spectrum().frequencies.size();
    std::vector<double> factors;
    bool is_valid = true;
    for (const std::string& piece : split_list(text, '/'))
      is_valid = is_valid && parse_number(piece, factors.emplace_back()) && factors.back() > 0;
    if (is_valid && factors.size() == 1) factors.resize(pairs, factors.front());
    if (is_valid && factors.size() == pairs) return factors;
    throw InputError(fmt::format(
        "encoding 'interpolated': {} is '{}', expected a positive number, or {} as in 1/1.2/3.5, one for each pair",
        option, text, pairs));
  }

  /// Returns the frequencies for a sequence of length T, and the factor of rotated vectors.
  Spectrum spectrum_of(double T) const {
    Spectrum spectrum = rotary_.spectrum();
    spectrum.amplitude *= options_.attention_factor > 0 ? options_.attention_factor : attention_factor();
    if (options_.method == Method::linear) return spectrum;
    change_frequencies(T, spectrum);
    if (options_.resonance) round_wavelengths(spectrum.frequencies);
    return spectrum;
  }

  /// Sets row t of the rotations for the length that the sequence had when the token got its position.
  void rotate_token(const Positions& positions, Index t, double middle, Rotations& rotations) const {
    const auto n = static_cast<size_t>(t);
    Positions one{.at = {positions.at[n]}, .rounding = positions.rounding};
    for (const std::vector<Real>& values : positions.coordinates) one.coordinates.push_back({values[n]});
    Rotations row;
    rotary_.rotations(one, spectrum_of(positions.lengths[n]), middle, row);
    if (t == 0) {
      rotations = row;
      for (Matrix* all : {&rotations.cosine, &rotations.sine, &rotations.key_cosine, &rotations.key_sine})
        all->resize(all->rows() * positions.size(), all->cols());
    }
    rotations.cosine.row(t) = row.cosine.row(0);
    rotations.sine.row(t) = row.sine.row(0);
    if (!row.keys_differ) return;
    rotations.key_cosine.row(t) = row.key_cosine.row(0);
    rotations.key_sine.row(t) = row.key_sine.row(0);
  }

  /// Returns the factor of rotated queries and keys.
  double attention_factor() const {
    if (scale_ <= 1) return 1;
    if (options_.method == Method::yarn) return 0.1 * std::log(scale_) + 1;
    return options_.method == Method::longrope ? std::sqrt(1 + std::log(scale_) / std::log(length_)) : 1;
  }

  /// Changes the frequencies for a sequence of length T.
  void change_frequencies(double T, Spectrum& spectrum) const {
    if (options_.method == Method::ntk) change_base(scale_, spectrum);
    if (options_.method == Method::ntk_dynamic && T > length_)
      change_base(options_.alpha * T / length_ - (options_.alpha - 1), spectrum);
    for (size_t n = 0; n < spectrum.frequencies.size(); ++n) {
      double& w = spectrum.frequencies[n];
      switch (options_.method) {
        case Method::yarn:
          slow_down(ramp(spectrum, n), w);
          break;
        case Method::llama3:
          slow_down(ramp_by_turns(w, options_.low_freq_factor, options_.high_freq_factor), w);
          break;
        case Method::longrope:
          w /= T <= length_ ? short_[n] : long_.empty() ? 1 + (scale_ - 1) * ramp(spectrum, n) : long_[n];
          break;
        case Method::linear:
        case Method::ntk:
        case Method::ntk_dynamic:
          break;
      }
    }
  }

  static void change_base(double scale, Spectrum& spectrum) {
    const double d = static_cast<double>(spectrum.width);
    for (size_t n = 0; n < spectrum.frequencies.size(); ++n) {
      spectrum.frequencies[n] *= std::pow(scale, -2.0 * static_cast<double>(n) / (d - 2));
    }
  }

  void slow_down(double ramp, double& w) const { w = w / scale_ * ramp + w * (1 - ramp); }

  /// Returns 1 for a frequency that turns at most `slow` times within L, 0 for at least `fast` times.
  double ramp_by_turns(double w, double slow, double fast) const {
    const double turns = length_ * w / (2 * std::numbers::pi);
    return 1 - std::clamp((turns - slow) / (fast - slow), 0.0, 1.0);
  }

  /// Returns the fraction by which yarn slows down pair n.
  double ramp(const Spectrum& spectrum, size_t n) const {
    if (options_.ramp == Ramp::paper)
      return ramp_by_turns(spectrum.frequencies[n], options_.beta_slow, options_.beta_fast);
    const double d = static_cast<double>(spectrum.width);
    const auto pair_that_turns = [&](double times) {
      return d * std::log(length_ / (2 * std::numbers::pi * times)) / (2 * std::log(spectrum.base));
    };
    double low = pair_that_turns(options_.beta_fast), high = pair_that_turns(options_.beta_slow);
    if (options_.truncate) {
      low = std::floor(low);
      high = std::ceil(high);
    }
    low = std::max(low, 0.0);
    high = std::min(high, d - 1);
    if (low == high) high += 0.001;  // with high < low = 0 no pair slows down, as in the cited code
    return std::clamp((static_cast<double>(n) - low) / (high - low), 0.0, 1.0);
  }

  Options options_;
  const Rotary& rotary_;              // inner()
  double length_, scale_;             // L, s
  std::vector<double> short_, long_;  // factors of longrope, one for each pair; long_ may be empty
};

const RegisterEncoding<Interpolated> registered{kInfo};
const RegisterMethods methods{kInfo.name,
                              {{"ntk", "method=ntk"},
                               {"dynamic_ntk", "method=ntk_dynamic"},
                               {"yarn", "method=yarn"},
                               {"llama3", "method=llama3"},
                               {"longrope", "method=longrope"},
                               {"linear_scaling", "method=linear"}}};

}  // namespace
}  // namespace posbench::interpolated
