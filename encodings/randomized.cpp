// Randomized positions: every sequence gets ascending positions drawn from a range longer than any sequence, so
// that all of the range is trained.
//
//   sampling=positions   p_0 < ... < p_{T-1}, a uniformly random subset of 0 .. L - 1; the base uses p_t for t
//   sampling=distances   s_0 = 0, s_1 < ... < s_{T-1} a random subset of 1 .. L - 1; tokens n apart have the
//                        distance s_n, negative to the right
//
// Ruoss et al. 2023, arXiv:2305.16843; google-deepmind/randomized_positional_encodings, which samples distances
// for relative bases and ALiBi, positions for the others. There is a fresh draw for every sequence, in training
// and in evaluation; the code shares one over a batch and draws anew for every layer of a relative or rotary base,
// ours keeps one throughout. The code's relative form has a table that is too short, so that keys to the right
// share one code: not reproduced. For the base, L is both the trained and the longest length: learned_abs gets L
// rows.
#include <numeric>

#include "encodings/parts/decorator.h"
#include "encodings/registry.h"

namespace posbench {
namespace {

enum class Sampling { positions, distances };

class Randomized final : public Decorator {
 public:
  struct Options {
    std::string base = "sinusoidal";
    int max = 2048;
    Sampling sampling = Sampling::positions;
    std::string wrapped() const { return base; }
    void describe(OptionTable& o) {
      o.text("base", base, "an absolute, relative or rotary encoding", "the encoding that gets the positions");
      o.integer("max", max, 2, 1 << 20, "L: positions are drawn from 0 .. L - 1; at least the longest sequence");
      o.choice("sampling", sampling, {"positions", "distances"},
               "draw the tokens' positions, or, for relative bases and biases, the distances themselves");
    }
  };

  Randomized(const Options& options, const ModelShape& shape, ParameterLayout& layout)
      : Decorator(shape, checked_base(options, shape, layout)), options_(options) {}

  Positions positions(const Sequence& s, Rng& rng) const override {
    Positions positions = inner().positions(s, rng);
    const int T = static_cast<int>(s.tokens.size());
    require_room(T);
    positions.sampled_distances = options_.sampling == Sampling::distances;
    if (positions.sampled_distances) {
      const std::vector<int> distances = distinct(rng, options_.max - 1, T - 1);
      positions.at[0] = 0;
      for (int n = 1; n < T; ++n) positions.at[n] = static_cast<Real>(1 + distances[n - 1]);
    } else {
      const std::vector<int> drawn = distinct(rng, options_.max, T);
      for (int t = 0; t < T; ++t) positions.at[t] = static_cast<Real>(drawn[t]);
    }
    return positions;
  }

 private:
  static std::unique_ptr<PositionEncoding> checked_base(const Options& options, const ModelShape& shape,
                                                        ParameterLayout& layout) {
    require_positions("randomized", options.base);
    const Spec base = Spec::parse(options.base);
    const EncodingInfo& info = encodings().find(innermost(base).name).info;
    if (options.sampling == Sampling::distances && info.takes_positions != TakesPositions::distances) {
      throw std::invalid_argument(
          fmt::format("encoding 'randomized': base '{}' needs positions, not distances alone; leave out "
                      "sampling=distances or take a relative base such as shaw_k or alibi",
                      options.base));
    }
    if (shape.longest > options.max) {
      throw std::invalid_argument(fmt::format(
          "encoding 'randomized': max is {}, less than the longest sequence, {}", options.max, shape.longest));
    }
    return make_encoding(base, with_lengths(shape, options.max), layout);
  }

  void require_room(int length) const {
    if (length <= options_.max) return;
    throw std::invalid_argument(
        fmt::format("encoding 'randomized': a sequence of {} tokens needs as many positions, and max "
                    "is {}",
                    length, options_.max));
  }

  Options options_;
};

const RegisterEncoding<Randomized> registered{{
    .name = "randomized",
    .family = Family::wrapper,
    .equation = "the base's, with p_t for t: p_0 < ... < p_{T-1} drawn from 0 .. L - 1 for every sequence",
    .source = "Ruoss et al. 2023, arXiv:2305.16843; google-deepmind/randomized_positional_encodings",
    .notes = "One draw serves all layers, where the code draws for every layer; the code's relative table, too "
             "short for its "
             "indices, is not reproduced. Everything but the positions is as the base: trained up to L.",
    .touches = "P",
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
}};

}  // namespace
}  // namespace posbench
