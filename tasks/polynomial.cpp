// Polynomial: its value modulo 10.
//
//   x -2 + 3 x 2 + -1 x 0 _   ->   1        3 * (-2)^2 - (-2)^0 = 11
//
// The first number is x, uniform over -2..2; terms are a coefficient, uniform over -3..3, and an exponent, uniform
// over 0..3. The remainder is not negative, and 0^0 is 1.
//
// Kazemnejad et al. 2023, arXiv:2305.19466; code McGill-NLP/length-generalization, where it is text
// ("Evaluate at x = - 2 in 3 * x ** 2 + ..."). Each number is one token here.
#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench {
namespace {

class Polynomial final : public Task {
 public:
  struct Options {
    Integers length{1, 8};
    void describe(OptionTable& o) { o.integers("length", length, 1, 10000, "terms"); }
  };

  Polynomial(const Options& options, Layout layout) : options_(options), layout_(layout) {}

  int vocabulary() const override { return 16; }
  double chance_level() const override { return 0.1; }
  const Integers& lengths() const override { return options_.length; }
  std::string word(int token) const override {
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
    segments.push_back(length + 1);
    Example example = ask(layout_, std::move(question), kBlank, {(value + 10) % 10});
    example.segments = std::move(segments);
    return example;
  }

 private:
  static constexpr int kNegative = 10, kX = 13, kPlus = 14, kBlank = 15;  // 0..9, then -1, -2, -3

  static int id(int number) { return number >= 0 ? number : kNegative - 1 - number; }

  Options options_;
  Layout layout_;
};

const RegisterTask<Polynomial> registered{{
    .name = "polynomial",
    .family = "length_generalization",
    .definition = "Reads x and the terms of a polynomial, and answers its value modulo 10.",
    .takes = "The model has to compute each term by itself, wherever it stands, and sum all of them modulo "
             "ten.",
    .source = "Kazemnejad et al. 2023, arXiv:2305.19466",
    .published_name = "polynomial evaluation",
    .published = "Trained on up to 8 terms, tested on 9..16. Each number is one token, and the prompt in words is "
                 "left out.",
    .length_unit = "terms",
    .splits = {{"in_distribution", {}, "the trained lengths"},
               {"ood_length", {{"length", "1x..2x"}}, "up to twice the trained lengths"}},
    .largest_answer_fraction = 0.19,
}};

}  // namespace
}  // namespace posbench
