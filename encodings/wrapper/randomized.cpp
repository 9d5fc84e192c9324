// Gives every sequence ascending positions that are drawn from a range longer than any sequence.

#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "encodings/parts/decorator.h"
#include "encodings/registry.h"

namespace posbench::randomized {
namespace {

const EncodingInfo kInfo{
    .name = "randomized",
    .family = Family::wrapper,
    .equation =
        "the base's, with p_t for t\n"
        "sampling=positions: p_0 < ... < p_(T-1) are a uniformly random subset of 0 .. L - 1\n"
        "sampling=distances: s_0 = 0 and s_1 < ... < s_(T-1) are a random subset of 1 .. L - 1; tokens n "
        "apart have the distance s_n, negative to the right\n"
        "sampling=skip: p_t = t for t < m, p_t = t + u for the others;   m from 1 .. ceil(T / 2) and u from 0 .. L - T at "
        "random in training, u = 0 in evaluation",
    .source =
        "Ruoss et al. 2023, arXiv:2305.16843; google-deepmind/randomized_positional_encodings; "
        "skip: Zhu et al. 2023 (PoSE), arXiv:2309.10400, dwzhu-pku/PoSE",
    .notes =
        "All of the range is trained. The code samples distances for relative bases and ALiBi, and "
        "positions for the others. Every sequence gets a fresh draw, in training and in evaluation, which "
        "serves all layers. The code shares a draw over a batch, and draws for every layer of a relative "
        "or rotary base. The code's relative table is too short, so that keys to the right share one code; "
        "this is not reproduced. For the base, L is both the trained and the longest length: learned_abs "
        "gets L rows. skip is the training of PoSE, with two chunks: the model meets every distance up to L, and is tested "
        "at the positions 0, 1, ... . PoSE tunes a trained model in this way, and also takes the second chunk from a later place of "
        "a longer text. Here it trains from the start, on whole sequences.",
    .extrapolates = Extrapolation::yes,
    .relative = Relative::as_base,
    .content_dependent = "no",
    .distinct = Distinct::as_base,
    .distance_decay = DistanceDecay::as_base,
    .variants = {"base=(alibi:sides=offset),sampling=distances",
                 "base=(dape:base=alibi)",
                 "base=(dape:base=kerple_log),sampling=distances",
                 "base=(interpolated:method=ntk_dynamic,original=6)",
                 "base=alibi",
                 "base=deberta",
                 "base=deberta,sampling=distances",
                 "base=fire",
                 "base=kerple_log",
                 "base=kerple_log,sampling=distances",
                 "base=kerple_power,sampling=distances",
                 "base=learned_abs,max=100",
                 "base=pope",
                 "base=rel_sin_bidir",
                 "base=rel_sin_bidir,sampling=distances",
                 "base=rope",
                 "base=rope,max=100,sampling=skip",
                 "base=sandwich",
                 "base=sandwich,sampling=distances",
                 "base=shaw_k",
                 "base=shaw_k,sampling=distances",
                 "base=shaw_kv",
                 "base=shaw_kv,sampling=distances",
                 "base=sinusoidal,max=50",
                 "base=t5_bias,sampling=distances",
                 "base=tupe_a,max=100",
                 "base=tupe_r,max=100",
                 "base=txl",
                 "base=txl,sampling=distances",
                 "base=xlnet",
                 "base=xlnet,sampling=distances",
                 "base=xpos"},
};

enum class Sampling { positions, distances, skip };

class Randomized final : public Decorator {
 public:
  struct Options {
    std::string base = "sinusoidal";
    int max = 2048;
    Sampling sampling = Sampling::positions;
    std::string wrapped() const { return base; }
    bool chooses_positions() const { return true; }
    void describe(OptionTable& o) {
      o.text("base", base, "an absolute, relative or rotary encoding", "encoding that gets the positions");
      o.integer("max", max, 2, 1 << 20,
                "L, the number of positions 0 .. L - 1 to draw from; at least the longest sequence");
      o.choice(
          "sampling", sampling, {"positions", "distances", "skip"},
          "draws of positions, or, for relative bases and biases, of distances; skip: in training, a random gap "
          "between two chunks of the sequence");
    }
  };

  Randomized(const Options& options, const ModelConfig& config, ParameterLayout& layout)
      : Decorator(config, checked_base(options, config, layout)), options_(options) {}

  Positions positions(const Sequence& s, Rng& rng) const override {
    Positions positions = inner().positions(s, rng);
    const int T = static_cast<int>(s.tokens.size());
    if (T > options_.max) {
      throw InputError(
          fmt::format("encoding 'randomized': max is {}, less than the {} tokens of a sequence", options_.max, T));
    }
    if (options_.sampling == Sampling::skip) {
      if (s.training) skip(T, rng, positions);
      return positions;
    }
    positions.sampled_distances = options_.sampling == Sampling::distances;
    if (positions.sampled_distances) {
      const std::vector<int> distances = sample_distinct(rng, options_.max - 1, T - 1);
      positions.at[0] = 0;
      for (int n = 1; n < T; ++n) positions.at[n] = static_cast<Real>(1 + distances[n - 1]);
    } else {
      const std::vector<int> drawn = sample_distinct(rng, options_.max, T);
      for (int t = 0; t < T; ++t) positions.at[t] = static_cast<Real>(drawn[t]);
    }
    return positions;
  }

 private:
  /// Moves the tokens after the first chunk by the same random number of positions.
  void skip(int T, Rng& rng, Positions& positions) const {
    const int chunk = uniform(rng, 1, (T + 1) / 2), gap = uniform(rng, 0, options_.max - T);
    for (int t = chunk; t < T; ++t) positions.at[t] += static_cast<Real>(gap);
  }

  static std::unique_ptr<PositionEncoding> checked_base(const Options& options, const ModelConfig& config,
                                                        ParameterLayout& layout) {
    require_positions("randomized", options.base);
    const Spec base = Spec::parse(options.base);
    const EncodingInfo& info = encodings().find(innermost(base).name).info;
    if (options.sampling == Sampling::distances && info.takes_positions != TakesPositions::distances) {
      throw InputError(
          fmt::format("encoding 'randomized': base '{}' needs positions, not distances alone; leave out "
                      "sampling=distances or take a relative base such as shaw_k or alibi",
                      options.base));
    }
    if (config.longest > options.max) {
      throw InputError(fmt::format(
          "encoding 'randomized': max is {}, less than the longest sequence, {}; set max to {} or more",
          options.max, config.longest, config.longest));
    }
    return make_encoding(base, with_lengths(config, options.max), layout);
  }

  Options options_;
};

const RegisterEncoding<Randomized> registered{kInfo};

}  // namespace
}  // namespace posbench::randomized
