// Solves an equation modulo 5 for x.
//
//   ( x - 3 ) = 1 _   ->   4
//
// append_expression() draws length - 2 tokens with the signs + and - only, so that x is unique. x replaces the
// first digit from a uniform token on, wrapping around at the end. Lengths 1 and 2 are too short for an equation;
// they are zeros with the answer 0.
#include <utility>
#include <vector>

#include "tasks/parts/chomsky.h"
#include "tasks/parts/examples.h"
#include "tasks/parts/expressions.h"
#include "tasks/registry.h"

namespace posbench::solve_equation {
namespace {

const TaskInfo kInfo{
    .name = "solve_equation",
    .family = "chomsky/deterministic_context_free",
    .version = 2,
    .aspects = {Aspect::arithmetic, Aspect::hierarchy},
    .definition = "The model reads an equation modulo 5 with one unknown digit and answers that digit.",
    .requirement =
        "Attention has to match brackets at several depths, and the model has to undo the operations around the "
        "unknown.",
    .source = kChomskySource,
    .published_name = "Solve Equation",
    .published = chomsky_published("", 9),
    .length_unit = "tokens",
    .splits = chomsky_splits(),
    .largest_answer_fraction = 0.39,
    .shortcuts = {.token = 0.57, .neighbor = 0.8, .count = 0.77},
};

class SolveEquation final : public ChomskyTask<LengthOption<"tokens", 9>, "01234+-()x=_", 5> {
 public:
  using ChomskyTask::ChomskyTask;

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
  static constexpr int kX = 9, kEquals = 10;
};

const RegisterTask<SolveEquation> registered{kInfo};

}  // namespace
}  // namespace posbench::solve_equation
