// Even pairs: do the pairs 01 and 10 together occur an even number of times?   A regular language.
//
//   0 0 1 1 1 0 _   ->   0        two unequal neighbours: 01 and 10
//   0 1 1 _         ->   1        one: 01
//
// The number is odd exactly if the last bit differs from the first, so both answers are equally likely from two
// bits on. A single bit has no pairs, so its answer is 0.
//
// Deletang et al. 2023, arXiv:2207.02098, section 4.
#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench {
namespace {

class EvenPairs final : public Task {
 public:
  struct Options {
    Integers length{1, 20};
    void describe(OptionTable& o) { o.integers("length", length, 1, 10000, "bits"); }
  };

  EvenPairs(const Options& options, Layout layout) : options_(options), layout_(layout) {}

  int vocabulary() const override { return 3; }  // 0, 1, _
  int answers() const override { return 2; }
  double chance_level() const override { return 0.5; }
  const Integers& lengths() const override { return options_.length; }
  std::string word(int token) const override { return token == kBlank ? "_" : std::to_string(token); }

  Example sample(int length, Rng& rng) const override {
    const std::vector<int> bits = uniform_tokens(rng, length, 0, 1);
    return ask(layout_, bits, kBlank, {bits.front() != bits.back()});
  }

 private:
  static constexpr int kBlank = 2;
  Options options_;
  Layout layout_;
};

const RegisterTask<EvenPairs> registered{{
    .name = "even_pairs",
    .family = "chomsky/regular",
    .definition = "Reads uniform bits and answers the number of unequal neighbours modulo 2.",
    .takes = "The first and the last bit decide: attention has to tell the first position from all others at "
             "any length.",
    .source = "Deletang et al. 2023, arXiv:2207.02098, section 4",
    .published_name = "Even Pairs",
    .published = "Trained on lengths 1..40, scored on 41..500; by default ours are 1..20 and 21..100.",
    .length_unit = "bits",
    .splits = {{"in_distribution", {}, "the trained lengths"},
               {"ood_length", {{"length", "1.05x/1.5x/2x/3x/4x/5x"}}, "longer than trained"}},
    .largest_answer_fraction = 0.53,
}};

}  // namespace
}  // namespace posbench
