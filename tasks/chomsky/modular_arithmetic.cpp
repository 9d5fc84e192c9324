// Evaluates a sum of products modulo 5, without brackets.
//
//   1 + 2 * 3 _   ->   2        7 modulo 5
//
// Digits and signs are uniform. Products bind tighter than sums, and they make 0 a little more frequent than the
// other answers.
#include <utility>
#include <vector>

#include "tasks/parts/chomsky.h"
#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench::modular_arithmetic {
namespace {

const TaskInfo kInfo{
    .name = "modular_arithmetic",
    .family = "chomsky/regular",
    .version = 2,
    .aspects = {Aspect::arithmetic, Aspect::state_tracking},
    .definition = "The model reads digits 0..4 with + - * between them and answers the value modulo 5.",
    .requirement =
        "Products of neighbors come before sums, so order matters between neighbors. "
        "Beyond them a sum modulo five decides.",
    .source = kChomskySource,
    .published_name = "Modular Arithmetic (Simple)",
    .published = chomsky_published(
        "An even length is reduced by one, as in the code that made the published numbers, so that lengths 1 "
        "and 2 both give a single digit; even=paper increases it by one, as the paper says. "
        "The code has an input id for a blank that never occurs; here this id is the empty token.",
        9),
    .length_unit = "tokens",
    .splits = chomsky_splits(),
    .largest_answer_fraction = 0.23,
    .shortcuts = {.token = 0.42, .neighbor = 0.38, .count = 0.36},
};

enum class Even { code, paper };
struct Options {
  Integers length{1, 9};
  Even even = Even::code;
  void describe(OptionTable& o) {
    o.integers("length", length, 1, 10000, "tokens");
    o.choice("even", even, {"code", "paper"}, "an even length is one less (code) or one more (paper)");
  }
};

class ModularArithmetic final : public ChomskyTask<Options, "01234+-*_", 5> {
 public:
  using ChomskyTask::ChomskyTask;

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
  static constexpr int kPlus = 5, kTimes = 7;
};

const RegisterTask<ModularArithmetic> registered{kInfo};

}  // namespace
}  // namespace posbench::modular_arithmetic
