// Memorization of MAD: the value of each key, which never occurs in the sequence.
//
//   k3 ! k90 ! k3 !        targets: the values of k3, k90 and k3
//
// One mapping of keys to distinct values, drawn once, is used for every sample of every seed, so it can only be
// learned in training. Keys are uniform; the answer is read at the marker after its key. A control: no position
// but the previous one matters.
//
// Poli et al. 2024, arXiv:2403.17844; code athms/mad-lab: 256 ids (127 keys, 128 values and the marker) and 32
// tokens. The mapping is ours, since theirs depends on another random number generator.
#include "tasks/registry.h"

namespace posbench {
namespace {

class MadMemorization final : public Task {
 public:
  struct Options {
    Integers length{16};
    int vocabulary = 256;
    int mapping = 12345;
    void describe(OptionTable& o) {
      o.integers("length", length, 1, 100000, "keys, each followed by a marker");
      o.integer("vocabulary", vocabulary, 5, 100000, "ids: keys, as many values or one more, and the marker");
      o.integer("mapping", mapping, 0, 1 << 30, "the seed of the mapping");
    }
  };

  MadMemorization(const Options& options, Layout) : options_(options) {
    for (int v = keys(); v < marker(); ++v) value_.push_back(v);
    Rng rng = stream(options.mapping, "mad_memorization");
    shuffle(std::span(value_), rng);
  }

  int vocabulary() const override { return options_.vocabulary; }
  double chance_level() const override { return 1.0 / (marker() - keys()); }
  const Integers& lengths() const override { return options_.length; }
  std::string word(int token) const override {
    return token == marker() ? "!" : fmt::format("{}{}", token < keys() ? 'k' : 'v', token);
  }

  Example sample(int length, Rng& rng) const override {
    Example example;
    for (int n = 0; n < length; ++n) {
      const int key = uniform(rng, 0, keys() - 1);
      example.tokens.insert(example.tokens.end(), {key, marker()});
      example.targets.insert(example.targets.end(), {kIgnore, value_[key]});
      example.scored.push_back(2 * n + 1);
      example.segments.insert(example.segments.end(), {n, n});
    }
    return example;
  }

 private:
  int marker() const { return options_.vocabulary - 1; }
  int keys() const { return marker() / 2; }

  Options options_;
  std::vector<int> value_;  // of each key; the last entry has no key
};

const RegisterTask<MadMemorization> registered{{
    .name = "mad_memorization",
    .family = "memorization",
    .definition =
        "Reads keys, each followed by a marker, and answers each key's value under one fixed random mapping.",
    .takes = "The parameters have to hold the mapping; nothing is to be found in the sequence but the key "
             "itself, one position before.",
    .source = "Poli et al. 2024, arXiv:2403.17844; code athms/mad-lab",
    .published_name = "memorization",
    .published = "As published, except for the mapping; trained and tested at 16 keys. The split is ours.",
    .length_unit = "keys",
    .splits = {{"in_distribution", {}, "the trained length"},
               {"ood_length4", {{"length", "4x"}}, "four times the trained length"}},
}};

}  // namespace
}  // namespace posbench
