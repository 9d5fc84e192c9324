// Copies a string.
//
//   3 7 7 1 =   ->   3 7 7 1 =                  form=multi: tokens are independent and uniform
//   3 7 7 1 =   ->   3 7 7 1 = 3 7 7 1 =        form=multi, times=2
//   5 5 5 =     ->   5 5 5 =                    form=repeat: one token, so only the end is hard
//   5 5 5 =     ->   5 5 5 5 5 5 =              form=repeat, times=2
//   8 5 5 5 =   ->   8 8 8 =                    form=replace: another token, named first, as many times
//
// The answer ends with a second separator, because `repeat` would have nothing to predict without it. `repeat` and
// `replace` have twice as many slots as answer tokens, so that the slots do not show the end; slots after the end
// have the separator as target, which is not scored.
#include <utility>
#include <vector>

#include "tasks/parts/copying.h"
#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench::copy {
namespace {

const TaskInfo kInfo{
    .name = "copy",
    .family = "length_generalization",
    .aspects = {Aspect::copying},
    .definition = "The model reads tokens and answers them again, once or twice, and then their end.",
    .requirement =
        "Each answer token is as far behind its source as the string is long. "
        "If a token is unique, the source is also found by content, just after the previous answer.",
    .source = "Kazemnejad et al. 2023, arXiv:2305.19466",
    .published_name = "copy_multi, copy_multi_2x, copy_repeat_single, copy_repeat_single_2x, copy_replace_double",
    .published = kCopyingPublished,
    .length_unit = "tokens",
    .splits = copying_splits(),
    .largest_answer_fraction = 0.09,
    .shortcuts = {.token = 0.29, .neighbor = 0.14, .count = 0.16, .position = 0.15},
};

enum class CopyForm { multi, repeat, replace };
struct Options {
  Integers length{1, 20};
  CopyForm form = CopyForm::multi;
  int times = 1, symbols = 16;
  void describe(OptionTable& o) {
    o.integers("length", length, 1, 10000, "tokens to copy");
    o.choice("form", form, {"multi", "repeat", "replace"},
             "uniform tokens, one token, or one replaced by another");
    o.integer("times", times, 1, 2, "number of copies");
    o.integer("symbols", symbols, 2, 1000, "different tokens");
  }
};

class Copy final : public CopyingTask<Options> {
 public:
  using CopyingTask::CopyingTask;

  Example sample(int length, Rng& rng) const override {
    if (options_.form == CopyForm::multi) {
      const std::vector<int> tokens = uniform_tokens(rng, length, 0, options_.symbols - 1);
      std::vector<int> answer;
      for (int time = 0; time < options_.times; ++time) {
        answer.insert(answer.end(), tokens.begin(), tokens.end());
        answer.push_back(separator());
      }
      return ask(layout_, tokens, separator(), answer);
    }
    const int token = uniform(rng, 0, options_.symbols - 1);
    std::vector<int> question(length, token), answer(options_.times * length, token);
    if (options_.form == CopyForm::replace) {
      const int other = (token + uniform(rng, 1, options_.symbols - 1)) % options_.symbols;
      question.insert(question.begin(), other);
      answer.assign(answer.size(), other);
    }
    answer.push_back(separator());
    const int slots = 2 * static_cast<int>(answer.size());
    return ask_terminated(layout_, std::move(question), separator(), std::move(answer), slots, separator());
  }
};

const RegisterTask<Copy> registered{kInfo};

}  // namespace
}  // namespace posbench::copy
