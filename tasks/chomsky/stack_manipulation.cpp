// Applies actions to a stack of bits.
//
//   0 1 1 0 push1 pop pop _   ->   1 1 0 pop        question: from the bottom; answer: from the top
//
// The stack has a uniform number of bits, from one to all tokens but one. The other tokens are actions, uniform
// over pop, push 0 and push 1; to pop an empty stack does nothing. The terminator has the id of pop, there are
// length + 1 slots, and length 1 is a single bit, which is its own answer.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tasks/parts/chomsky.h"
#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench::stack_manipulation {
namespace {

const TaskInfo kInfo{
    .name = "stack_manipulation",
    .family = "chomsky/deterministic_context_free",
    .aspects = {Aspect::state_tracking},
    .definition =
        "The model reads a stack of bits and actions on it, and answers the final stack from its top, followed "
        "by a terminator.",
    .requirement =
        "Each pop undoes the last push that is not yet undone, so the model has to count depth back from the "
        "end.",
    .source = kChomskySource,
    .published_name = "Stack Manipulation",
    .published = chomsky_published(kChomskyTerminator),
    .length_unit = "tokens",
    .splits = chomsky_splits(),
    .largest_answer_fraction = 0.49,
};

class StackManipulation final : public ChomskyTask<LengthOption<"tokens">, "01-^v_", 3> {
 public:
  using ChomskyTask::ChomskyTask;
  std::string token_text(int token) const override {
    static const char* const kTexts[] = {"0", "1", "pop", "push0", "push1", "_"};
    return kTexts[token];
  }

  Example sample(int length, Rng& rng) const override {
    std::vector<int> question = uniform_tokens(rng, length == 1 ? 1 : uniform(rng, 1, length - 1), 0, 1);
    std::vector<int> stack = question;
    while (static_cast<int>(question.size()) < length) {
      const int action = uniform(rng, kPop, kPop + 2);
      question.push_back(action);
      if (action != kPop) {
        stack.push_back(action - kPop - 1);
      } else if (!stack.empty()) {
        stack.pop_back();
      }
    }
    std::reverse(stack.begin(), stack.end());
    stack.push_back(kTerminator);
    return ask_terminated(layout_, std::move(question), kBlank, std::move(stack), length + 1);
  }

 private:
  static constexpr int kPop = 2, kTerminator = 2;
};

const RegisterTask<StackManipulation> registered{kInfo};

}  // namespace
}  // namespace posbench::stack_manipulation
