// Reverses a string of independent, uniform tokens.
//
//   3 7 7 1 =   ->   1 7 7 3 =                  form=once
//   3 7 7 1 =   ->   1 7 7 3 = 1 7 7 3 =        form=twice
//   3 7 7 1 =   ->   1 7 7 3 = 3 7 7 1 =        form=then_copy
//
// The answer ends with a second separator, so that the model must also learn to stop.
#include <vector>

#include "tasks/parts/copying.h"
#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench::reverse {
namespace {

const TaskInfo kInfo{
    .name = "reverse",
    .family = "length_generalization",
    .aspects = {Aspect::copying, Aspect::order},
    .definition = "The model reads tokens and answers them in reverse order, and then their end.",
    .requirement =
        "The distance from an answer token to its source grows by two from each answer token to the next.",
    .source = "Kazemnejad et al. 2023, arXiv:2305.19466",
    .published_name = "reverse_multi, reverse_multi_2x, reverse_then_copy",
    .published = kCopyingPublished,
    .length_unit = "tokens",
    .splits = copying_splits(),
    .largest_answer_fraction = 0.09,
    .shortcuts = {.token = 0.25, .neighbor = 0.14, .count = 0.16, .position = 0.15},
};

enum class ReverseForm { once, twice, then_copy };
struct Options {
  Integers length{1, 20};
  ReverseForm form = ReverseForm::once;
  int symbols = 16;
  void describe(OptionTable& o) {
    o.integers("length", length, 1, 10000, "tokens to reverse");
    o.choice("form", form, {"once", "twice", "then_copy"}, "reversed once, twice, or once and then copied");
    o.integer("symbols", symbols, 2, 1000, "different tokens");
  }
};

class Reverse final : public CopyingTask<Options> {
 public:
  using CopyingTask::CopyingTask;

  Example sample(int length, Rng& rng) const override {
    const std::vector<int> tokens = uniform_tokens(rng, length, 0, options_.symbols - 1);
    std::vector<int> answer(tokens.rbegin(), tokens.rend());
    answer.push_back(separator());
    if (options_.form == ReverseForm::twice) answer.insert(answer.end(), tokens.rbegin(), tokens.rend());
    if (options_.form == ReverseForm::then_copy) answer.insert(answer.end(), tokens.begin(), tokens.end());
    if (options_.form != ReverseForm::once) answer.push_back(separator());
    return ask(layout_, tokens, separator(), answer);
  }
};

const RegisterTask<Reverse> registered{kInfo};

}  // namespace
}  // namespace posbench::reverse
