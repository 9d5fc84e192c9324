// N-back: at every position, the token n positions before.
//
//   5 2 7 7 1        steps=2, targets: 5 at the first 7, 2 at the second, 7 at 1
//
// Tokens are uniform, and only the distance identifies the target. There is no teacher forcing: a position reads a
// token, never an answer, so both layouts are the same. The first `steps` positions have no target.
//
// Vasylenko et al. 2025, arXiv:2506.16640; code deep-spin/asentmax: steps=2, 16 tokens, lengths of 32..64
// trained and of 64 to 4096 tested.
#include <stdexcept>

#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench {
namespace {

class NBack final : public Task {
 public:
  struct Options {
    Integers length{32, 64};
    int steps = 2, symbols = 16;
    void describe(OptionTable& o) {
      o.integers("length", length, 2, 100000, "tokens");
      o.integer("steps", steps, 1, 99999, "positions back");
      o.integer("symbols", symbols, 2, 1000, "different tokens");
    }
  };

  NBack(const Options& options, Layout) : options_(options) {
    if (options.steps >= options.length.min()) {
      throw std::invalid_argument(
          fmt::format("task 'n_back': steps {} needs a length of {} at least, not {}; lower it or raise length",
                      options.steps, options.steps + 1, options.length.min()));
    }
  }

  int vocabulary() const override { return options_.symbols; }
  double chance_level() const override { return 1.0 / options_.symbols; }
  const Integers& lengths() const override { return options_.length; }
  std::string word(int token) const override { return std::to_string(token); }

  Example sample(int length, Rng& rng) const override {
    Example example{.tokens = uniform_tokens(rng, length, 0, options_.symbols - 1)};
    example.targets.assign(length, kIgnore);
    example.segments.assign(length, 0);
    for (int t = options_.steps; t < length; ++t) {
      example.targets[t] = example.tokens[t - options_.steps];
      example.scored.push_back(t);
    }
    return example;
  }

 private:
  Options options_;
};

const RegisterTask<NBack> registered{{
    .name = "n_back",
    .family = "retrieval",
    .definition = "Reads uniform tokens and answers at each position the token n positions before.",
    .takes = "Attention has to reach exactly one fixed distance back, at every position.",
    .source = "Vasylenko et al. 2025, arXiv:2506.16640; code deep-spin/asentmax",
    .published_name = "2Back",
    .published = "Sizes and trained lengths as published; tested there on lengths up to 4096. The published "
                 "sequence starts with a token 0 and has the target 0 where there is nothing to recall; ours starts "
                 "with the first token and has no target there.",
    .length_unit = "tokens",
    .splits = {{"in_distribution", {}, "the trained lengths"},
               {"ood_length2", {{"length", "2x"}}, "twice the trained lengths"},
               {"ood_length4", {{"length", "4x"}}, "four times the trained lengths"}},
}};

}  // namespace
}  // namespace posbench
