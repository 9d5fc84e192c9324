// Binary addition: the sum of two binary numbers, least significant bit first.   A context-sensitive language.
//
//   0 0 1 + 0 1 1 0 1 _   ->   0 1 0 1 1 +        4 + 22 = 26
//
// The first number has a uniform number of digits from 1 to length - 2, the second has the rest; both are uniform
// over the positive numbers of that many digits, trailing (most significant) zeros included. The answer has no
// superfluous zeros and ends with a terminator, which has the id of the sign. There are length + 1 slots; those
// after the terminator have the target 0, unscored. Lengths 1 and 2 are a single number below 2^length - 1, which
// is its own answer.
//
// Deletang et al. 2023, arXiv:2207.02098, section 4. There is no teacher-forced layout there; ours stops at the
// terminator, as a decoder would, and does not score the zeros. Their chance level of 1/2 does not count the
// terminator as a possible answer.
#include "tasks/parts/digits.h"
#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench {
namespace {

class BinaryAddition final : public Task {
 public:
  struct Options {
    Integers length{1, 20};
    void describe(OptionTable& o) { o.integers("length", length, 1, 10000, "tokens"); }
  };

  BinaryAddition(const Options& options, Layout layout) : options_(options), layout_(layout) {}

  int vocabulary() const override { return 4; }
  int answers() const override { return 3; }
  double chance_level() const override { return 1.0 / 3; }
  const Integers& lengths() const override { return options_.length; }
  std::string word(int token) const override { return std::string(1, "01+_"[token]); }

  Example sample(int length, Rng& rng) const override {
    const BinaryOperands operands = binary_operands(rng, length);
    return ask_binary(layout_, operands, add(operands.first, operands.second, 2), length + 1);
  }

 private:
  Options options_;
  Layout layout_;
};

const RegisterTask<BinaryAddition> registered{{
    .name = "binary_addition",
    .family = "chomsky/context_sensitive",
    .definition =
        "Reads two binary numbers, least significant bit first, and answers their sum, with a terminator.",
    .takes = "Each bit of the sum depends on the two bits of its place, whose distance grows with the "
             "operands, and on a carry from all lower places.",
    .source = "Deletang et al. 2023, arXiv:2207.02098, section 4",
    .published_name = "Binary Addition",
    .published = "Trained on lengths 1..40, scored on 41..500; by default ours are 1..20 and 21..100. Teacher forced, "
                 "the answer stops at its terminator; in slots, zeros follow it as published. The chance level "
                 "counts the terminator as an answer.",
    .length_unit = "tokens",
    .splits = {{"in_distribution", {}, "the trained lengths"},
               {"ood_length", {{"length", "1.05x/1.5x/2x/3x/4x/5x"}}, "longer than trained"}},
    .largest_answer_fraction = 0.51,
}};

}  // namespace
}  // namespace posbench
