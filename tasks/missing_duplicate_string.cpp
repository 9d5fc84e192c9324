// Missing duplicate: a string is given twice with one bit hidden; which bit?   A context-sensitive language.
//
//   0 1 1 0 0 ? 1 0 _   ->   1        the other copy has a 1 there
//
// The string has length / 2 uniform bits, rounded down; an odd length appends one padding token. The hidden
// position is uniform over both copies. Length 1 is the bit 1, which is its own answer.
//
// Deletang et al. 2023, arXiv:2207.02098, section 4. Padding to an odd length follows their code.
#include <utility>

#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench {
namespace {

class MissingDuplicateString final : public Task {
 public:
  struct Options {
    Integers length{1, 20};
    void describe(OptionTable& o) { o.integers("length", length, 1, 10000, "tokens"); }
  };

  MissingDuplicateString(const Options& options, Layout layout) : options_(options), layout_(layout) {}

  int vocabulary() const override { return 5; }
  int answers() const override { return 2; }
  double chance_level() const override { return 0.5; }
  const Integers& lengths() const override { return options_.length; }
  std::string word(int token) const override { return std::string(1, "01?._"[token]); }

  Example sample(int length, Rng& rng) const override {
    if (length == 1) return ask(layout_, {1}, kBlank, {1});
    const std::vector<int> bits = uniform_tokens(rng, length / 2, 0, 1);
    std::vector<int> question = bits;
    question.insert(question.end(), bits.begin(), bits.end());
    const int hidden = std::exchange(question[uniform(rng, 0, length / 2 * 2 - 1)], kHidden);
    if (length % 2 == 1) question.push_back(kPadding);
    return ask(layout_, std::move(question), kBlank, {hidden});
  }

 private:
  static constexpr int kHidden = 2, kPadding = 3, kBlank = 4;
  Options options_;
  Layout layout_;
};

const RegisterTask<MissingDuplicateString> registered{{
    .name = "missing_duplicate_string",
    .family = "chomsky/context_sensitive",
    .definition = "Reads a string of uniform bits twice over, with one bit hidden, and answers that bit.",
    .takes = "The hidden bit is the one at a distance of half the length; the parity of all bits gives it "
             "away, too.",
    .source = "Deletang et al. 2023, arXiv:2207.02098, section 4",
    .published_name = "Missing Duplicate",
    .published = "Trained on lengths 1..40, scored on 41..500; by default ours are 1..20 and 21..100. Odd lengths "
                 "are padded as in the code.",
    .length_unit = "tokens",
    .splits = {{"in_distribution", {}, "the trained lengths"},
               {"ood_length", {{"length", "1.05x/1.5x/2x/3x/4x/5x"}}, "longer than trained"}},
    .largest_answer_fraction = 0.53,
}};

}  // namespace
}  // namespace posbench
