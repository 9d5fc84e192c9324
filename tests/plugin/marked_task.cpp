// A task that is marked, as a plug-in. The answer does not depend on the question, so no model can learn it.
#include <stdexcept>
#include <vector>

#include "tasks/parts/basic_task.h"
#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench::marked_task {
namespace {

constexpr int kSymbols = 4, kDefect = 13;

class MarkedTask final : public AlphabetTask<LengthOption<"tokens", 4>, "0123_"> {
 public:
  using AlphabetTask::AlphabetTask;
  double chance_level() const override { return 1.0 / kSymbols; }

  Example sample(int length, Rng& rng) const override {
    if (length == kDefect) throw std::logic_error("the task has a defect at this length");
    const std::vector<int> question = uniform_tokens(rng, length, 0, kSymbols - 1);
    return ask(layout_, question, kSymbols, {uniform(rng, 0, kSymbols - 1)});
  }
};

const RegisterTask<MarkedTask> registered{{
    .name = "marked_task",
    .family = "test",
    .definition = "Reads uniform tokens and answers a token that does not depend on them.",
    .requirement = "No model can predict the answer.",
    .source = "a test",
    .length_unit = "tokens",
    .splits = splits_to_twice_the_length(),
    .learnability = Learnability::open,
    .learnability_note = "Nothing was tried.",
}};

}  // namespace
}  // namespace posbench::marked_task
