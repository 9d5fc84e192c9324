// Modular arithmetic with brackets: the value modulo 5 of a fully bracketed expression.   A deterministic
// context-free language.
//
//   ( 3 * - 2 ) _   ->   4        -6 modulo 5
//
// Expressions are drawn by append_expression(), with signs + - *. Products make 0 the answer in 30 % of the
// expressions of 40 tokens or more: chance is 20 %, the best constant 30 %.
//
// Deletang et al. 2023, arXiv:2207.02098, section 4. The code has input ids for x and =, which never occur; ours
// are left out.
#include "tasks/parts/examples.h"
#include "tasks/parts/expressions.h"
#include "tasks/registry.h"

namespace posbench {
namespace {

class ModularArithmeticBrackets final : public Task {
 public:
  struct Options {
    Integers length{1, 20};
    void describe(OptionTable& o) { o.integers("length", length, 1, 10000, "tokens"); }
  };

  ModularArithmeticBrackets(const Options& options, Layout layout) : options_(options), layout_(layout) {}

  int vocabulary() const override { return 11; }
  int answers() const override { return 5; }
  double chance_level() const override { return 0.2; }
  const Integers& lengths() const override { return options_.length; }
  std::string word(int token) const override { return std::string(1, "01234+-*()_"[token]); }

  Example sample(int length, Rng& rng) const override {
    std::vector<int> question;
    const int value = append_expression(rng, length, {.open = 8, .close = 9, .last_operator = 7}, question);
    return ask(layout_, std::move(question), kBlank, {value});
  }

 private:
  static constexpr int kBlank = 10;
  Options options_;
  Layout layout_;
};

const RegisterTask<ModularArithmeticBrackets> registered{{
    .name = "modular_arithmetic_brackets",
    .family = "chomsky/deterministic_context_free",
    .definition = "Reads a bracketed expression of digits 0..4 with + - * and answers its value modulo 5.",
    .takes = "Attention has to match brackets at several depths, and the model has to evaluate from the "
             "inside out.",
    .source = "Deletang et al. 2023, arXiv:2207.02098, section 4",
    .published_name = "Modular Arithmetic (Brackets)",
    .published = "Trained on lengths 1..40, scored on 41..500; by default ours are 1..20 and 21..100. The code's "
                 "ids for x and =, which never occur, are left out.",
    .length_unit = "tokens",
    .splits = {{"in_distribution", {}, "the trained lengths"},
               {"ood_length", {{"length", "1.05x/1.5x/2x/3x/4x/5x"}}, "longer than trained"}},
    .largest_answer_fraction = 0.31,
}};

}  // namespace
}  // namespace posbench
