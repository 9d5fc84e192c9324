// Modular arithmetic: the value modulo 5 of a sum of products, without brackets.   A regular language.
//
//   1 + 2 * 3 _   ->   2        7 modulo 5
//
// Digits 0..4 and signs + - * are uniform; products bind tighter than sums. An even length is reduced by one
// (even=code), so that lengths 1 and 2 both give a single digit, or increased by one (even=paper).
//
// Deletang et al. 2023, arXiv:2207.02098, section 4. The paper says that an even length is increased, its code
// reduces it; the code made the published numbers, so that is the default. Products make 0 a little more frequent
// than the other answers. The code has an input id for a blank that never occurs; here that id is the empty token.
#include <utility>

#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench {
namespace {

class ModularArithmetic final : public Task {
 public:
  enum class Even { code, paper };
  struct Options {
    Integers length{1, 20};
    Even even = Even::code;
    void describe(OptionTable& o) {
      o.integers("length", length, 1, 10000, "tokens");
      o.choice("even", even, {"code", "paper"}, "an even length is one less (code) or one more (paper)");
    }
  };

  ModularArithmetic(const Options& options, Layout layout) : options_(options), layout_(layout) {}

  int vocabulary() const override { return 9; }
  int answers() const override { return 5; }
  double chance_level() const override { return 0.2; }
  const Integers& lengths() const override { return options_.length; }
  std::string word(int token) const override { return std::string(1, "01234+-*_"[token]); }

  Example sample(int length, Rng& rng) const override {
    std::vector<int> question;
    int sum = 0, product = 1;  // of the finished terms, and of the factors of the current term
    if (length % 2 == 0) length += options_.even == Even::code ? -1 : 1;
    for (int i = 0; i < length; i += 2) {
      const int sign = i == 0 ? kTimes : uniform(rng, kPlus, kTimes), digit = uniform(rng, 0, 4);
      if (i > 0) question.push_back(sign);
      question.push_back(digit);
      if (sign != kTimes) sum += std::exchange(product, sign == kPlus ? 1 : 4);  // 4 is -1 modulo 5
      product = product * digit % 5;
    }
    return ask(layout_, std::move(question), kBlank, {(sum + product) % 5});
  }

 private:
  static constexpr int kPlus = 5, kTimes = 7, kBlank = 8;
  Options options_;
  Layout layout_;
};

const RegisterTask<ModularArithmetic> registered{{
    .name = "modular_arithmetic",
    .family = "chomsky/regular",
    .definition = "Reads digits 0..4 with + - * between them and answers the value modulo 5.",
    .takes = "Products of neighbours come before sums, so order matters between neighbours; beyond them a sum "
             "modulo five decides.",
    .source = "Deletang et al. 2023, arXiv:2207.02098, section 4",
    .published_name = "Modular Arithmetic (Simple)",
    .published = "Trained on lengths 1..40, scored on 41..500; by default ours are 1..20 and 21..100. An even "
                 "length is reduced as in the code; even=paper increases it. The code's id for a blank, which "
                 "never occurs, is the empty token here.",
    .length_unit = "tokens",
    .splits = {{"in_distribution", {}, "the trained lengths"},
               {"ood_length", {{"length", "1.05x/1.5x/2x/3x/4x/5x"}}, "longer than trained"}},
    .largest_answer_fraction = 0.21,
}};

}  // namespace
}  // namespace posbench
