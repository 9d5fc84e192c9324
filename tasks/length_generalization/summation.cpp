// Adds digits modulo 10.
//
//   4 7 1 _   ->   2
#include <numeric>
#include <vector>

#include "tasks/parts/basic_task.h"
#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench::summation {
namespace {

const TaskInfo kInfo{
    .name = "summation",
    .family = "length_generalization",
    .aspects = {Aspect::arithmetic},
    .definition = "The model reads uniform digits 1..9 and answers their sum modulo 10.",
    .requirement =
        "The sum of all digits modulo ten decides, so the model has to count by content. "
        "Their order does not matter.",
    .source = "Kazemnejad et al. 2023, arXiv:2305.19466",
    .published_name = "summation",
    .published = "The paper trains on up to 8 digits and tests on 9..16 (code McGill-NLP/length-generalization).",
    .length_unit = "digits",
    .splits = splits_to_twice_the_length(),
    .largest_answer_fraction = 0.11,
    .shortcuts = {.token = 0.19, .neighbor = 0.12},
};

class Summation final : public AlphabetTask<LengthOption<"digits", 8>, "0123456789_"> {
 public:
  using AlphabetTask::AlphabetTask;
  double chance_level() const override { return 0.1; }

  Example sample(int length, Rng& rng) const override {
    const std::vector<int> digits = uniform_tokens(rng, length, 1, 9);
    return ask(layout_, digits, kBlank, {std::accumulate(digits.begin(), digits.end(), 0) % 10});
  }

 private:
  static constexpr int kBlank = 10;
};

const RegisterTask<Summation> registered{kInfo};

}  // namespace
}  // namespace posbench::summation
