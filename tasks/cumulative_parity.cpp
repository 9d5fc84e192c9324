// Cumulative parity: after every bit, is the number of ones so far odd?
//
//   1 0 1 1 0        targets: 1 1 0 1 1
//
// Bits are uniform, and so are the answers. There is no teacher forcing: a position reads a bit, never an answer,
// so both layouts are the same. The distance is the number of bits counted.
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

  int vocabulary() const override { return 2; }
  double chance_level() const override { return 0.5; }
  const Integers& lengths() const override { return options_.length; }
  std::string word(int token) const override { return std::to_string(token); }

  Example sample(int length, Rng& rng) const override {
    Example example{.tokens = uniform_tokens(rng, length, 0, 1)};
    example.segments.assign(length, 0);
    int parity = 0;
    for (int t = 0; t < length; ++t) {
      parity ^= example.tokens[t];
      example.targets.push_back(parity);
      example.scored.push_back(t);
      example.distances.push_back(t + 1);
    }
    return example;
  }

 private:
  Options options_;
};

const RegisterTask<CumulativeParity> registered{{
    .name = "cumulative_parity",
    .family = "state_tracking",
    .definition = "Reads uniform bits and answers after each whether the number of ones so far is odd.",
    .takes = "Every bit before it changes each answer, so the model has to keep a state, or a count whose "
             "parity it can read at any size.",
    .source = "code HazyResearch/zoology, data/circuits.py",
    .published_name = "cumulative parity",
    .published = "One length, trained and tested alike; ours varies. The splits are ours.",
    .length_unit = "bits",
    .distance_unit = "bits counted",
    .splits = {{"in_distribution", {}, "the trained lengths"},
               {"ood_length", {{"length", "2x"}}, "twice the trained lengths"}},
}};

}  // namespace
}  // namespace posbench
