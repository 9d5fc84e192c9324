// Evaluates a polynomial modulo 10.
//
//   x -2 + 3 x 2 + -1 x 0 _   ->   1        3 * (-2)^2 - (-2)^0 = 11
//
// The first number is x, uniform over -2..2; terms are a coefficient, uniform over -3..3, and an exponent, uniform
// over 0..3. The remainder is not negative, and 0^0 is 1.
#include <string>
#include <utility>
#include <vector>

#include "tasks/parts/basic_task.h"
#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench::polynomial {
namespace {

const TaskInfo kInfo{
    .name = "polynomial",
    .family = "length_generalization",
    .version = 2,
    .aspects = {Aspect::arithmetic},
    .definition = "The model reads x and the terms of a polynomial, and answers its value modulo 10.",
    .requirement =
        "The model has to compute each term by itself, at any position, and sum all of them modulo ten.",
    .source = "Kazemnejad et al. 2023, arXiv:2305.19466",
    .published_name = "polynomial evaluation",
    .published =
        "The paper trains on up to 8 terms and tests on 9..16, as English text (\"Evaluate at x = - 2 in 3 * x "
        "** 2 + ...\"; code McGill-NLP/length-generalization). "
        "Here each number is one token, and the prompt is left out. Training has 1 or 2 terms and tests have 3 or 4, so "
        "that a model of two layers learns the task.",
    .length_unit = "terms",
    .splits = splits_to_twice_the_length(),
    .largest_answer_fraction = 0.27,
    .shortcuts = {.token = 0.36, .neighbor = 0.44, .count = 0.42},
};

class Polynomial final : public BasicTask<LengthOption<"terms", 2>> {
 public:
  using BasicTask::BasicTask;
  int vocabulary() const override { return 16; }
  double chance_level() const override { return 0.1; }
  std::string token_text(int token) const override {
    if (token < kNegative) return std::to_string(token);
    return token < kX ? std::to_string(kNegative - 1 - token) : std::string(1, "x+_"[token - kX]);
  }

  Example sample(int length, Rng& rng) const override {
    const int x = uniform(rng, -2, 2);
    std::vector<int> question{kX, id(x)}, segments{0, 0};
    int value = 0;
    for (int term = 1; term <= length; ++term) {
      const int coefficient = uniform(rng, -3, 3), exponent = uniform(rng, 0, 3);
      question.insert(question.end(), {kPlus, id(coefficient), kX, exponent});
      segments.insert(segments.end(), 4, term);
      int power = 1;
      for (int factor = 0; factor < exponent; ++factor) power *= x;
      value = (value + coefficient * power) % 10;
    }
    Example example = ask(layout_, std::move(question), kBlank, {(value + 10) % 10});
    set_segments(example, std::move(segments), length + 1);
    return example;
  }

 private:
  static constexpr int kNegative = 10, kX = 13, kPlus = 14, kBlank = 15;  // 0..9, then -1, -2, -3

  static int id(int number) { return number >= 0 ? number : kNegative - 1 - number; }
};

const RegisterTask<Polynomial> registered{kInfo};

}  // namespace
}  // namespace posbench::polynomial
