// Copies a string of two different tokens.
//
//   a b b a a =   ->   a b b a a =
//
// The last token read, and the last few tokens, occurred at many positions, so that only the position in the
// sequence determines the next token. The answer ends with a second separator, as in `copy`.
#include <utility>
#include <vector>

#include "tasks/parts/basic_task.h"
#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench::repeat_copy {
namespace {

const TaskInfo kInfo{
    .name = "repeat_copy",
    .family = "length_generalization",
    .aspects = {Aspect::copying},
    .definition = "The model reads tokens of two kinds and answers them again, and then their end.",
    .requirement =
        "Each answer token is as far behind its source as the string is long. "
        "Tokens repeat, so content does not find the source.",
    .source =
        "Zhou et al. 2023, arXiv:2310.16028; Huang et al. 2024, arXiv:2410.02140; code "
        "lacoco-lab/length_generalization",
    .published_name = "Copy with repeating tokens; Copy Repeat",
    .published =
        "Theory predicts that the task does not generalize to longer sequences: no short RASP-L program is "
        "known, and the task is not in C-RASP[periodic, local]. "
        "Huang et al. publish exact-match accuracies at 51..100 and 101..150 tokens after training on up to 50: "
        "0.26 and 0.00 with learned positions, shifted at random in training; 0.28 and 0.00 with none. "
        "These are means over the first five runs that solve all test samples of trained lengths; without positions "
        "the authors' files have six runs, of which five do so. "
        "Here the ratios are the same at two fifths of the size. "
        "The begin token is left out, and one separator serves as both.",
    .length_unit = "tokens",
    .splits = splits_to_three_times_the_length(),
    .largest_answer_fraction = 0.5,
};

class RepeatCopy final : public AlphabetTask<LengthOption<"tokens to copy">, "ab="> {
 public:
  using AlphabetTask::AlphabetTask;
  double chance_level() const override { return 1.0 / vocabulary(); }

  Example sample(int length, Rng& rng) const override {
    std::vector<int> tokens = uniform_tokens(rng, length, 0, 1), answer = tokens;
    answer.push_back(kSeparator);
    return ask(layout_, std::move(tokens), kSeparator, answer);
  }

 private:
  static constexpr int kSeparator = 2;
};

const RegisterTask<RepeatCopy> registered{kInfo};

}  // namespace
}  // namespace posbench::repeat_copy
