// Stack manipulation: what is left on a stack after these actions?   A deterministic context-free language.
//
//   0 1 1 0 push1 pop pop _   ->   1 1 0 pop        the stack is given bottom first and answered top first
//
// The stack has a uniform number of bits, from one to all tokens but one; the other tokens are actions, uniform
// over pop, push 0 and push 1. Popping an empty stack does nothing. The answer ends with a terminator, which has
// the id of pop. There are length + 1 slots; those after the terminator have the target 0, unscored. Length 1 is a
// single bit, which is its own answer.
//
// Deletang et al. 2023, arXiv:2207.02098, section 4. There is no teacher-forced layout there; ours stops at the
// terminator, as a decoder would, and does not score the zeros. Their chance level of 1/2 does not count the
// terminator as a possible answer.
#include <algorithm>

#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench {
namespace {

class StackManipulation final : public Task {
 public:
  struct Options {
    Integers length{1, 20};
    void describe(OptionTable& o) { o.integers("length", length, 1, 10000, "tokens"); }
  };

  StackManipulation(const Options& options, Layout layout) : options_(options), layout_(layout) {}

  int vocabulary() const override { return 6; }
  int answers() const override { return 3; }
  double chance_level() const override { return 1.0 / 3; }
  const Integers& lengths() const override { return options_.length; }
  std::string word(int token) const override {
    static const char* const kWords[] = {"0", "1", "pop", "push0", "push1", "_"};
    return kWords[token];
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
  static constexpr int kPop = 2, kTerminator = 2, kBlank = 5;
  Options options_;
  Layout layout_;
};

const RegisterTask<StackManipulation> registered{{
    .name = "stack_manipulation",
    .family = "chomsky/deterministic_context_free",
    .definition =
        "Reads a stack of bits and actions on it, and answers the final stack from its top, with a terminator.",
    .takes = "Each pop undoes the last push that is still there, so the model has to count depth back from "
             "the end.",
    .source = "Deletang et al. 2023, arXiv:2207.02098, section 4",
    .published_name = "Stack Manipulation",
    .published = "Trained on lengths 1..40, scored on 41..500; by default ours are 1..20 and 21..100. Teacher forced, "
                 "the answer stops at its terminator; in slots, zeros follow it as published. The chance level "
                 "counts the terminator as an answer.",
    .length_unit = "tokens",
    .splits = {{"in_distribution", {}, "the trained lengths"},
               {"ood_length", {{"length", "1.05x/1.5x/2x/3x/4x/5x"}}, "longer than trained"}},
    .largest_answer_fraction = 0.49,
}};

}  // namespace
}  // namespace posbench
