// Evaluates a fully bracketed expression modulo 5.
//
//   ( 3 * - 2 ) _   ->   4        -6 modulo 5
//
// append_expression() draws the expression. Products make 0 the answer of 30 % of the expressions of 40 tokens or
// more, so the best constant is right for 30 %, where chance is 20 %.
#include <utility>
#include <vector>

#include "tasks/parts/chomsky.h"
#include "tasks/parts/examples.h"
#include "tasks/parts/expressions.h"
#include "tasks/registry.h"

namespace posbench::modular_arithmetic_brackets {
namespace {

const TaskInfo kInfo{
    .name = "modular_arithmetic_brackets",
    .family = "chomsky/deterministic_context_free",
    .version = 2,
    .aspects = {Aspect::arithmetic, Aspect::hierarchy},
    .definition =
        "The model reads a bracketed expression of digits 0..4 with + - * and answers its value modulo 5.",
    .requirement =
        "Attention has to match brackets at several depths, and the model has to evaluate from the inside to "
        "the outside.",
    .source = kChomskySource,
    .published_name = "Modular Arithmetic (Brackets)",
    .published = chomsky_published("The input ids of the code for x and =, which never occur, are left out.", 9),
    .length_unit = "tokens",
    .splits = chomsky_splits(),
    .largest_answer_fraction = 0.31,
    .shortcuts = {.token = 0.35, .neighbor = 0.64, .count = 0.61},
};

class ModularArithmeticBrackets final : public ChomskyTask<LengthOption<"tokens", 9>, "01234+-*()_", 5> {
 public:
  using ChomskyTask::ChomskyTask;

  Example sample(int length, Rng& rng) const override {
    std::vector<int> question;
    const int value = append_expression(rng, length, {.open = 8, .close = 9, .last_operator = 7}, question);
    return ask(layout_, std::move(question), kBlank, {value});
  }
};

const RegisterTask<ModularArithmeticBrackets> registered{kInfo};

}  // namespace
}  // namespace posbench::modular_arithmetic_brackets
