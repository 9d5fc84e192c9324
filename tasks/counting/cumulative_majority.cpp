// Computes after every bit whether at least half of the bits so far are ones.
//
//   1 0 0 1 1        targets: 1 1 0 1 1
//
// Bits are uniform; a tie counts as one, so 1 is somewhat more frequent. A position reads a bit, never an answer,
// so both layouts are the same. The distance is the number of bits counted.
#include "tasks/parts/basic_task.h"
#include "tasks/registry.h"

namespace posbench::cumulative_majority {
namespace {

const TaskInfo kInfo{
    .name = "cumulative_majority",
    .family = "counting",
    .aspects = {Aspect::counting},
    .definition =
        "The model reads uniform bits and answers after each whether at least half of the bits so far are ones.",
    .requirement =
        "Attention that weighs all earlier bits equally gives the mean that decides. "
        "No position is needed.",
    .source = "code HazyResearch/zoology, data/circuits.py",
    .published_name = "cumulative majority",
    .published = "The code trains and tests on 16 bits. Here the length varies, and the splits are ours.",
    .length_unit = "bits",
    .distance_unit = "bits counted",
    .splits = {{"in_distribution", {}, "the trained lengths"},
               {"ood_length", {{"length", "2x"}}, "twice the trained lengths"}},
    .largest_answer_fraction = 0.58,
    .shortcuts = {.token = 0.71, .neighbor = 0.68, .count = 0.73},
};

class CumulativeMajority final : public AlphabetTask<LengthOption<"bits">, "01"> {
 public:
  using AlphabetTask::AlphabetTask;
  double chance_level() const override { return 0.5; }

  Example sample(int length, Rng& rng) const override {
    Example example{.tokens = uniform_tokens(rng, length, 0, 1)};
    example.segments.assign(length, 0);
    int lead = 0;  // ones minus zeros
    for (int t = 0; t < length; ++t) {
      lead += example.tokens[t] == 1 ? 1 : -1;
      example.targets.push_back(lead >= 0);
      example.scored.push_back(t);
      example.distances.push_back(t + 1);
    }
    return example;
  }
};

const RegisterTask<CumulativeMajority> registered{kInfo};

}  // namespace
}  // namespace posbench::cumulative_majority
