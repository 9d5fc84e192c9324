// Cumulative majority: after every bit, are at least half of the bits so far ones?
//
//   1 0 0 1 1        targets: 1 1 0 1 1
//
// Bits are uniform; a tie counts as one, which makes 1 somewhat more frequent. There is no teacher forcing: a
// position reads a bit, never an answer, so both layouts are the same. The distance is the number of bits counted.
//
// Code HazyResearch/zoology, data/circuits.py: 16 bits.
#include "tasks/registry.h"

namespace posbench {
namespace {

class CumulativeMajority final : public Task {
 public:
  struct Options {
    Integers length{1, 20};
    void describe(OptionTable& o) { o.integers("length", length, 1, 10000, "bits"); }
  };

  CumulativeMajority(const Options& options, Layout) : options_(options) {}

  int vocabulary() const override { return 2; }
  double chance_level() const override { return 0.5; }
  const Integers& lengths() const override { return options_.length; }
  std::string word(int token) const override { return std::to_string(token); }

  Example sample(int length, Rng& rng) const override {
    Example example{.tokens = uniform_tokens(rng, length, 0, 1)};
    example.segments.assign(length, 0);
    int lead = 0;  // ones minus zeros
    for (int t = 0; t < length; ++t) {
      lead += example.tokens[t] == 1 ? 1 : -1;
      example.targets.push_back(lead >= 0);
      example.scored.push_back(t);
      example.distances.push_back(t + 1);
    }
    return example;
  }

 private:
  Options options_;
};

const RegisterTask<CumulativeMajority> registered{{
    .name = "cumulative_majority",
    .family = "counting",
    .definition = "Reads uniform bits and answers after each whether at least half of those so far are ones.",
    .takes = "Attention to all earlier bits alike gives the mean that decides; no position is needed.",
    .source = "code HazyResearch/zoology, data/circuits.py",
    .published_name = "cumulative majority",
    .published = "16 bits, trained and tested alike; our length varies. The splits are ours.",
    .length_unit = "bits",
    .distance_unit = "bits counted",
    .splits = {{"in_distribution", {}, "the trained lengths"},
               {"ood_length", {{"length", "2x"}}, "twice the trained lengths"}},
    .largest_answer_fraction = 0.58,
}};

}  // namespace
}  // namespace posbench
