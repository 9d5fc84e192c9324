// Counts the pairs 01 and 10 modulo 2.
//
//   0 0 1 1 1 0 _   ->   0        two unequal neighbors: 01 and 10
//   0 1 1 _         ->   1        one: 01
//
// The number is odd exactly if the last bit differs from the first, so both answers are equally likely from two
// bits on. A single bit has no pairs, so its answer is 0.
#include <vector>

#include "tasks/parts/chomsky.h"
#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench::even_pairs {
namespace {

const TaskInfo kInfo{
    .name = "even_pairs",
    .family = "chomsky/regular",
    .aspects = {Aspect::state_tracking},
    .definition = "The model reads uniform bits and answers the number of unequal neighbors modulo 2.",
    .requirement =
        "The first and the last bit decide, so attention has to distinguish the first position from all others "
        "at any length.",
    .source = kChomskySource,
    .published_name = "Even Pairs",
    .published = chomsky_published(),
    .length_unit = "bits",
    .splits = chomsky_splits(),
    .largest_answer_fraction = 0.53,
};

class EvenPairs final : public ChomskyTask<LengthOption<"bits">, "01_", 2> {
 public:
  using ChomskyTask::ChomskyTask;

  Example sample(int length, Rng& rng) const override {
    const std::vector<int> bits = uniform_tokens(rng, length, 0, 1);
    return ask(layout_, bits, kBlank, {bits.front() != bits.back()});
  }
};

const RegisterTask<EvenPairs> registered{kInfo};

}  // namespace
}  // namespace posbench::even_pairs
