// Evaluates an expression in prefix notation modulo a number.
//
//   * + 3 4 - 1 2 =   ->   3         (3 + 4) * (1 - 2) = -7, which is 3 modulo 5
//
// An expression of n operators is a number if n = 0. Otherwise it is a uniform operator and two expressions, of
// l and n - 1 - l operators. Numbers are uniform, and l is uniform over 0 .. n - 1.
#include <string>
#include <vector>

#include "tasks/parts/basic_task.h"
#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench::mano {
namespace {

const TaskInfo kInfo{
    .name = "mano",
    .family = "length_generalization",
    .version = 2,
    .aspects = {Aspect::arithmetic, Aspect::hierarchy},
    .definition =
        "The model reads an expression of additions, subtractions and multiplications in prefix notation, and answers "
        "its value modulo a number.",
    .requirement =
        "The model has to know the tables of the operators, find the two operands of each operator, and compute from "
        "the inside out.",
    .source = "Allen-Zhu 2025, arXiv:2512.17351; code facebookresearch/PhysicsLM4, data-synthetic-pretrain/Mano",
    .published_name = "Mano",
    .published =
        "The code computes modulo 23, trains on 1 to L operators, L of 10, 13 or 16, with models of 6 to 12 layers, "
        "and tests with L. Its expressions have the same distribution. Each operator has two names, and a token before "
        "the expression states the number of operators; a token for an untrained number would mean nothing, so that "
        "it is left out here. The splits are ours. Here the modulus is 5, because a model of the quick profile learns "
        "these tables.",
    .length_unit = "operators",
    .splits = {{"in_distribution", {}, "the trained numbers of operators"},
               {"ood_length", {{"length", "2x"}}, "twice the operators, nested at random"},
               {"ood_left", {{"length", "2x"}, {"shape", "left"}}, "twice the operators, all before the numbers"},
               {"ood_right",
                {{"length", "2x"}, {"shape", "right"}},
                "twice the operators, one number after each"}},
    .largest_answer_fraction = 0.3,
    .shortcuts = {.token = 0.3, .neighbor = 0.4, .count = 0.4, .position = 0.3},
};

enum class Shape { any, left, right };
struct Options {
  Integers length{1, 2};
  int modulus = 5;
  Shape shape = Shape::any;
  void describe(OptionTable& o) {
    o.integers("length", length, 1, 10000, "operators");
    o.integer("modulus", modulus, 2, 1000, "the modulus, and the number of different numbers");
    o.choice("shape", shape, {"any", "left", "right"},
             "the operand that has the other operators: drawn for each, the first or the second");
  }
};

class Mano final : public BasicTask<Options> {
 public:
  using BasicTask::BasicTask;
  int vocabulary() const override { return 4 + options_.modulus; }
  double chance_level() const override { return 1.0 / options_.modulus; }
  std::string token_text(int token) const override {
    return token < kNumber ? std::string(1, "+-*="[token]) : std::to_string(token - kNumber);
  }

  Example sample(int length, Rng& rng) const override {
    std::vector<int> question;
    const int value = append_expression(rng, length, question);
    return ask(layout_, std::move(question), kEquals, {kNumber + value});
  }

 private:
  static constexpr int kPlus = 0, kMinus = 1, kTimes = 2, kEquals = 3, kNumber = 4;

  /// Appends a random expression of this many operators, and returns its value.
  int append_expression(Rng& rng, int operators, std::vector<int>& tokens) const {
    const int m = options_.modulus;
    if (operators == 0) {
      tokens.push_back(kNumber + uniform(rng, 0, m - 1));
      return tokens.back() - kNumber;
    }
    const int sign = uniform(rng, kPlus, kTimes);
    tokens.push_back(sign);
    int of_first = options_.shape == Shape::left ? operators - 1 : 0;
    if (options_.shape == Shape::any) of_first = uniform(rng, 0, operators - 1);
    const int first = append_expression(rng, of_first, tokens);
    const int second = append_expression(rng, operators - 1 - of_first, tokens);
    if (sign == kTimes) return first * second % m;
    return (sign == kPlus ? first + second : first - second + m) % m;
  }
};

const RegisterTask<Mano> registered{kInfo};

}  // namespace
}  // namespace posbench::mano
