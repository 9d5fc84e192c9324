// Computes the parity of the number of ones.
//
//   1 0 1 0 1 0 0 _   ->   1        three ones
//   0 1 1 1 1 _       ->   0        four ones
#include <numeric>
#include <vector>

#include "tasks/parts/chomsky.h"
#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench::parity_check {
namespace {

const TaskInfo kInfo{
    .name = "parity_check",
    .family = "chomsky/regular",
    .aspects = {Aspect::state_tracking},
    .definition = "The model reads uniform bits and answers the number of ones modulo 2.",
    .requirement =
        "Every bit changes the answer, so the model has to keep a state, or a count whose parity it can read at "
        "any size.",
    .source = kChomskySource,
    .published_name = "Parity Check",
    .published = chomsky_published(),
    .length_unit = "bits",
    .splits = chomsky_splits(),
    .shortcuts = {.neighbor = 0.52, .count = 1},
};

class ParityCheck final : public ChomskyTask<LengthOption<"bits">, "01_", 2> {
 public:
  using ChomskyTask::ChomskyTask;

  Example sample(int length, Rng& rng) const override {
    const std::vector<int> bits = uniform_tokens(rng, length, 0, 1);
    const int ones = std::accumulate(bits.begin(), bits.end(), 0);
    return ask(layout_, bits, kBlank, {ones % 2});
  }
};

const RegisterTask<ParityCheck> registered{kInfo};

}  // namespace
}  // namespace posbench::parity_check
