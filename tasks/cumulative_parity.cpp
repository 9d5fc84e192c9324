// Cumulative parity: after every bit, is the number of ones so far odd?
//
//   ^ 1 0 1 1 0        targets: 1 1 0 1 1
//
// Bits are uniform, and so are the answers. The begin token (^) makes a first run of ones countable: attention over
// equal tokens alone returns their common value, whatever its weights. There is no teacher forcing: a position reads
// a bit, never an answer, so both layouts are the same. The distance is the number of bits counted.
//
// Code HazyResearch/zoology, data/circuits.py. It is the running form of `parity_check`, and `group_word` for
// the group of order two.
#include "tasks/registry.h"

namespace posbench {
namespace {

class CumulativeParity final : public Task {
 public:
  struct Options {
    Integers length{1, 20};
    void describe(OptionTable& o) { o.integers("length", length, 1, 10000, "bits"); }
  };

  CumulativeParity(const Options& options, Layout) : options_(options) {}

  int vocabulary() const override { return kBegin + 1; }
  double chance_level() const override { return 0.5; }
  const Integers& lengths() const override { return options_.length; }
  std::string word(int token) const override { return token == kBegin ? "^" : std::to_string(token); }

  Example sample(int length, Rng& rng) const override {
    Example example{.tokens = uniform_tokens(rng, length, 0, 1), .targets = {kIgnore}};
    example.tokens.insert(example.tokens.begin(), kBegin);
    example.segments.assign(length + 1, 0);
    int parity = 0;
    for (int t = 1; t <= length; ++t) {
      parity ^= example.tokens[t];
      example.targets.push_back(parity);
      example.scored.push_back(t);
      example.distances.push_back(t);
    }
    return example;
  }

 private:
  static constexpr int kBegin = 2;

  Options options_;
};

const RegisterTask<CumulativeParity> registered{{
    .name = "cumulative_parity",
    .family = "state_tracking",
    .version = 2,
    .definition = "Reads uniform bits and answers after each whether the number of ones so far is odd.",
    .takes = "Every bit before it changes each answer, so the model has to keep a state, or a count whose "
             "parity it can read at any size.",
    .source = "code HazyResearch/zoology, data/circuits.py",
    .published_name = "cumulative parity",
    .published = "One length, trained and tested alike; ours varies. There is no begin token there, which only "
                 "absolute positions can do without. The splits are ours.",
    .length_unit = "bits",
    .distance_unit = "bits counted",
    .splits = {{"in_distribution", {}, "the trained lengths"},
               {"ood_length", {{"length", "2x"}}, "twice the trained lengths"}},
}};

}  // namespace
}  // namespace posbench
