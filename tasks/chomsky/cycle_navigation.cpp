// Follows a walk on a cycle of five positions.
//
//   2 0 1 0 0 _   ->   3        one step right and three left from position 0 end at -2, which is position 3
//
// Steps are uniform: 0 is left, 1 is stay, 2 is right. Steps and positions share ids.
#include <numeric>
#include <vector>

#include "tasks/parts/chomsky.h"
#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench::cycle_navigation {
namespace {

const TaskInfo kInfo{
    .name = "cycle_navigation",
    .family = "chomsky/regular",
    .aspects = {Aspect::state_tracking},
    .definition =
        "The model reads steps left, stay or right on a cycle of five positions and answers the position where "
        "the walk ends.",
    .requirement =
        "The sum of all steps modulo five decides, so the model has to count steps by content. "
        "Their order does not matter.",
    .source = kChomskySource,
    .published_name = "Cycle Navigation",
    .published = chomsky_published("Steps have the numbers of the code."),
    .length_unit = "steps",
    .splits = chomsky_splits(),
    .largest_answer_fraction = 0.23,
    .shortcuts = {.token = 0.24},
};

class CycleNavigation final : public ChomskyTask<LengthOption<"steps">, "01234_", 5> {
 public:
  using ChomskyTask::ChomskyTask;

  Example sample(int length, Rng& rng) const override {
    const std::vector<int> steps = uniform_tokens(rng, length, 0, 2);
    const int right = std::accumulate(steps.begin(), steps.end(), 0);  // the sum of steps plus `length`
    return ask(layout_, steps, kBlank, {(right + 4 * length) % 5});    // 4 is -1 modulo 5
  }
};

const RegisterTask<CycleNavigation> registered{kInfo};

}  // namespace
}  // namespace posbench::cycle_navigation
