// Bucket sort: the same digits 0..4, in ascending order.   A context-sensitive language.
//
//   1 0 2 0 4 1 1 2 _   ->   0 0 1 1 1 2 2 4
//
// Digits are uniform, so the position nearly determines the answer: at position i of n, floor(5 i / n) is right
// for 78 % of positions at n = 40 and 94 % at n = 500, where chance is 20 %.
//
// Deletang et al. 2023, arXiv:2207.02098, section 4.
#include <algorithm>

#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench {
namespace {

class BucketSort final : public Task {
 public:
  struct Options {
    Integers length{1, 20};
    void describe(OptionTable& o) { o.integers("length", length, 1, 10000, "digits"); }
  };

  BucketSort(const Options& options, Layout layout) : options_(options), layout_(layout) {}

  int vocabulary() const override { return 6; }
  int answers() const override { return 5; }
  double chance_level() const override { return 0.2; }
  const Integers& lengths() const override { return options_.length; }
  std::string word(int token) const override { return token == kBlank ? "_" : std::to_string(token); }

  Example sample(int length, Rng& rng) const override {
    std::vector<int> digits = uniform_tokens(rng, length, 0, 4), sorted = digits;
    std::sort(sorted.begin(), sorted.end());
    return ask(layout_, std::move(digits), kBlank, sorted);
  }

 private:
  static constexpr int kBlank = 5;
  Options options_;
  Layout layout_;
};

const RegisterTask<BucketSort> registered{{
    .name = "bucket_sort",
    .family = "chomsky/context_sensitive",
    .definition = "Reads uniform digits 0..4 and answers them in ascending order.",
    .takes = "How often each digit occurs decides the answer, so the model has to count by content; the order "
             "of the question does not matter.",
    .source = "Deletang et al. 2023, arXiv:2207.02098, section 4",
    .published_name = "Bucket Sort",
    .published = "Trained on lengths 1..40, scored on 41..500; by default ours are 1..20 and 21..100.",
    .length_unit = "digits",
    .splits = {{"in_distribution", {}, "the trained lengths"},
               {"ood_length", {{"length", "1.05x/1.5x/2x/3x/4x/5x"}}, "longer than trained"}},
}};

}  // namespace
}  // namespace posbench
