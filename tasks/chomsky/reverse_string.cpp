// Reverses bits; `reverse` is the form over more symbols that must also stop.
//
//   0 1 1 0 1 0 _   ->   0 1 0 1 1 0
//
// The answer is as long as the question, so it has no terminator.
#include <vector>

#include "tasks/parts/chomsky.h"
#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench::reverse_string {
namespace {

const TaskInfo kInfo{
    .name = "reverse_string",
    .family = "chomsky/deterministic_context_free",
    .aspects = {Aspect::copying, Aspect::order},
    .definition = "The model reads uniform bits and answers them in reverse order.",
    .requirement = "The distance from an answer bit to its source grows by two from each answer bit to the next.",
    .source = kChomskySource,
    .published_name = "Reverse String",
    .published = chomsky_published(),
    .length_unit = "bits",
    .splits = chomsky_splits(),
    .shortcuts = {.token = 0.56, .neighbor = 0.58, .count = 0.55},
};

class ReverseString final : public ChomskyTask<LengthOption<"bits">, "01_", 2> {
 public:
  using ChomskyTask::ChomskyTask;

  Example sample(int length, Rng& rng) const override {
    const std::vector<int> bits = uniform_tokens(rng, length, 0, 1);
    return ask(layout_, bits, kBlank, {bits.rbegin(), bits.rend()});
  }
};

const RegisterTask<ReverseString> registered{kInfo};

}  // namespace
}  // namespace posbench::reverse_string
