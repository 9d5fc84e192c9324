// Solve equation: which digit is x, modulo 5?   A deterministic context-free language.
//
//   ( x - 3 ) = 1 _   ->   4
//
// An expression of length - 2 tokens is drawn by append_expression(), with signs + and - only, so that x is
// unique. x replaces the first digit from a uniform token on, wrapping around at the end. Lengths 1 and 2, which
// leave no room for an equation, are zeros with the answer 0.
//
// Deletang et al. 2023, arXiv:2207.02098, section 4.
#include <utility>

#include "tasks/parts/examples.h"
#include "tasks/parts/expressions.h"
#include "tasks/registry.h"

namespace posbench {
namespace {

class SolveEquation final : public Task {
 public:
  struct Options {
    Integers length{1, 20};
    void describe(OptionTable& o) { o.integers("length", length, 1, 10000, "tokens"); }
  };

  SolveEquation(const Options& options, Layout layout) : options_(options), layout_(layout) {}

  int vocabulary() const override { return 12; }
  int answers() const override { return 5; }
  double chance_level() const override { return 0.2; }
  const Integers& lengths() const override { return options_.length; }
  std::string word(int token) const override { return std::string(1, "01234+-()x=_"[token]); }

  Example sample(int length, Rng& rng) const override {
    if (length < 3) return ask(layout_, std::vector<int>(length, 0), kBlank, {0});
    std::vector<int> question;
    const int value = append_expression(rng, length - 2, {.open = 7, .close = 8, .last_operator = 6}, question);
    int unknown = uniform(rng, 0, length - 3);
    while (question[unknown] > 4) unknown = (unknown + 1) % (length - 2);
    const int digit = std::exchange(question[unknown], kX);
    question.insert(question.end(), {kEquals, value});
    return ask(layout_, std::move(question), kBlank, {digit});
  }

 private:
  static constexpr int kX = 9, kEquals = 10, kBlank = 11;
  Options options_;
  Layout layout_;
};

const RegisterTask<SolveEquation> registered{{
    .name = "solve_equation",
    .family = "chomsky/deterministic_context_free",
    .definition = "Reads an equation modulo 5 with one unknown digit and answers that digit.",
    .takes = "Attention has to match brackets at several depths, and the model has to undo the operations "
             "around the unknown.",
    .source = "Deletang et al. 2023, arXiv:2207.02098, section 4",
    .published_name = "Solve Equation",
    .published = "Trained on lengths 1..40, scored on 41..500; by default ours are 1..20 and 21..100.",
    .length_unit = "tokens",
    .splits = {{"in_distribution", {}, "the trained lengths"},
               {"ood_length", {{"length", "1.05x/1.5x/2x/3x/4x/5x"}}, "longer than trained"}},
    .largest_answer_fraction = 0.29,
}};

}  // namespace
}  // namespace posbench
