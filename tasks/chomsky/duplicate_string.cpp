// Repeats bits twice; `copy` is the form over more symbols that must also stop.
//
//   1 0 1 _   ->   1 0 1 1 0 1
#include <vector>

#include "tasks/parts/chomsky.h"
#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench::duplicate_string {
namespace {

const TaskInfo kInfo{
    .name = "duplicate_string",
    .family = "chomsky/context_sensitive",
    .aspects = {Aspect::copying},
    .definition = "The model reads uniform bits and answers them twice.",
    .requirement =
        "Each answer bit is at a fixed distance from its source, which the length determines. "
        "Bits repeat, so content does not find the source.",
    .source = kChomskySource,
    .published_name = "Duplicate String",
    .published = chomsky_published(),
    .length_unit = "bits",
    .splits = chomsky_splits(),
    .shortcuts = {.token = 0.73, .neighbor = 0.55, .count = 0.52},
};

class DuplicateString final : public ChomskyTask<LengthOption<"bits">, "01_", 2> {
 public:
  using ChomskyTask::ChomskyTask;

  Example sample(int length, Rng& rng) const override {
    const std::vector<int> bits = uniform_tokens(rng, length, 0, 1);
    std::vector<int> twice = bits;
    twice.insert(twice.end(), bits.begin(), bits.end());
    return ask(layout_, bits, kBlank, twice);
  }
};

const RegisterTask<DuplicateString> registered{kInfo};

}  // namespace
}  // namespace posbench::duplicate_string
