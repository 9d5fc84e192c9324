// Computes after every bit whether the number of ones so far is odd; it is `group_word` for the group of order
// two.
//
//   ^ 1 0 1 1 0        targets: 1 1 0 1 1
//
// A position reads a bit, never an answer, so both layouts are the same. The distance is the number of bits
// counted.
#include "tasks/parts/basic_task.h"
#include "tasks/registry.h"

namespace posbench::cumulative_parity {
namespace {

const TaskInfo kInfo{
    .name = "cumulative_parity",
    .family = "state_tracking",
    .version = 2,
    .aspects = {Aspect::state_tracking},
    .definition = "The model reads uniform bits and answers after each whether the number of ones so far is odd.",
    .requirement =
        "Every bit before it changes each answer, so the model has to keep a state, or a count whose parity it "
        "can read at any size.",
    .source = "code HazyResearch/zoology, data/circuits.py",
    .published_name = "cumulative parity",
    .published =
        "The code has one length, trained and tested alike; here the length varies. "
        "The begin token (^) makes a first run of ones countable, because attention over equal tokens alone "
        "returns their common value, whatever its weights. "
        "The code has no begin token, which only absolute positions can do without. "
        "The splits are ours.",
    .length_unit = "bits",
    .distance_unit = "bits counted",
    .splits = {{"in_distribution", {}, "the trained lengths"},
               {"ood_length", {{"length", "2x"}}, "twice the trained lengths"}},
    .shortcuts = {.token = 0.55, .neighbor = 0.55, .count = 1},
};

class CumulativeParity final : public AlphabetTask<LengthOption<"bits">, "01^"> {
 public:
  using AlphabetTask::AlphabetTask;
  double chance_level() const override { return 0.5; }

  Example sample(int length, Rng& rng) const override {
    Example example{.tokens = uniform_tokens(rng, length, 0, 1), .targets = {kIgnore}};
    example.tokens.insert(example.tokens.begin(), kBegin);
    example.segments.assign(length + 1, 0);
    int parity = 0;
    for (int t = 1; t <= length; ++t) {
      parity ^= example.tokens[t];
      example.targets.push_back(parity);
      example.scored.push_back(t);
      example.distances.push_back(t);
    }
    return example;
  }

 private:
  static constexpr int kBegin = 2;
};

const RegisterTask<CumulativeParity> registered{kInfo};

}  // namespace
}  // namespace posbench::cumulative_parity
