// Finds the hidden bit of a string that is given twice.
//
//   0 1 1 0 0 ? 1 0 _   ->   1        the other copy has a 1 there
//
// The string has length / 2 bits, rounded down, and the hidden position is uniform over both copies. Length 1 is
// the bit 1, which is its own answer.
#include <utility>
#include <vector>

#include "tasks/parts/chomsky.h"
#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench::missing_duplicate_string {
namespace {

const TaskInfo kInfo{
    .name = "missing_duplicate_string",
    .family = "chomsky/context_sensitive",
    .aspects = {Aspect::copying},
    .definition = "The model reads a string of uniform bits twice, with one bit hidden, and answers that bit.",
    .requirement =
        "The answer is at a distance of half the length from the hidden bit. "
        "The parity of all bits gives it away, too.",
    .source = kChomskySource,
    .published_name = "Missing Duplicate",
    .published = chomsky_published("A padding token follows a question of odd length, as in the code."),
    .length_unit = "tokens",
    .splits = chomsky_splits(),
    .largest_answer_fraction = 0.53,
    .shortcuts = {.token = 0.57, .neighbor = 0.56, .count = 1},
};

class MissingDuplicateString final : public ChomskyTask<LengthOption<"tokens">, "01?._", 2> {
 public:
  using ChomskyTask::ChomskyTask;

  Example sample(int length, Rng& rng) const override {
    if (length == 1) return ask(layout_, {1}, kBlank, {1});
    const std::vector<int> bits = uniform_tokens(rng, length / 2, 0, 1);
    std::vector<int> question = bits;
    question.insert(question.end(), bits.begin(), bits.end());
    const int hidden = std::exchange(question[uniform(rng, 0, length / 2 * 2 - 1)], kHidden);
    if (length % 2 == 1) question.push_back(kPadding);
    return ask(layout_, std::move(question), kBlank, {hidden});
  }

 private:
  static constexpr int kHidden = 2, kPadding = 3;
};

const RegisterTask<MissingDuplicateString> registered{kInfo};

}  // namespace
}  // namespace posbench::missing_duplicate_string
