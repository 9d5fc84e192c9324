// Summation: the sum of digits modulo 10.
//
//   4 7 1 _   ->   2
//
// Digits are uniform over 1..9. The order does not matter.
//
// Kazemnejad et al. 2023, arXiv:2305.19466; code McGill-NLP/length-generalization.
#include <numeric>

#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench {
namespace {

class Summation final : public Task {
 public:
  struct Options {
    Integers length{1, 8};
    void describe(OptionTable& o) { o.integers("length", length, 1, 10000, "digits"); }
  };

  Summation(const Options& options, Layout layout) : options_(options), layout_(layout) {}

  int vocabulary() const override { return 11; }  // 0..9, _
  double chance_level() const override { return 0.1; }
  const Integers& lengths() const override { return options_.length; }
  std::string word(int token) const override { return token == kBlank ? "_" : std::to_string(token); }

  Example sample(int length, Rng& rng) const override {
    const std::vector<int> digits = uniform_tokens(rng, length, 1, 9);
    return ask(layout_, digits, kBlank, {std::accumulate(digits.begin(), digits.end(), 0) % 10});
  }

 private:
  static constexpr int kBlank = 10;
  Options options_;
  Layout layout_;
};

const RegisterTask<Summation> registered{{
    .name = "summation",
    .family = "length_generalization",
    .definition = "Reads digits 1..9 and answers their sum modulo 10.",
    .takes = "The sum of all digits modulo ten decides, so the model has to count by content; their order "
             "does not matter.",
    .source = "Kazemnejad et al. 2023, arXiv:2305.19466",
    .published_name = "summation",
    .published = "Trained on up to 8 digits, tested on 9..16.",
    .length_unit = "digits",
    .splits = {{"in_distribution", {}, "the trained lengths"},
               {"ood_length", {{"length", "1x..2x"}}, "up to twice the trained lengths"}},
    .largest_answer_fraction = 0.11,
}};

}  // namespace
}  // namespace posbench
