// Cycle navigation: where does a walk on a cycle of five positions end?   A regular language.
//
//   2 0 1 0 0 _   ->   3        one right and three left from position 0 is -2, which is position 3
//
// Steps are uniform: 0 left, 1 stay, 2 right.
//
// Deletang et al. 2023, arXiv:2207.02098, section 4. Steps and positions share ids.
#include <numeric>

#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench {
namespace {

class CycleNavigation final : public Task {
 public:
  struct Options {
    Integers length{1, 20};
    void describe(OptionTable& o) { o.integers("length", length, 1, 10000, "steps"); }
  };

  CycleNavigation(const Options& options, Layout layout) : options_(options), layout_(layout) {}

  int vocabulary() const override { return 6; }  // 0..4, _
  int answers() const override { return 5; }
  double chance_level() const override { return 0.2; }
  const Integers& lengths() const override { return options_.length; }
  std::string word(int token) const override { return token == kBlank ? "_" : std::to_string(token); }

  Example sample(int length, Rng& rng) const override {
    const std::vector<int> steps = uniform_tokens(rng, length, 0, 2);
    const int right = std::accumulate(steps.begin(), steps.end(), 0);  // the sum of steps plus `length`
    return ask(layout_, steps, kBlank, {(right + 4 * length) % 5});    // 4 is -1 modulo 5
  }

 private:
  static constexpr int kBlank = 5;
  Options options_;
  Layout layout_;
};

const RegisterTask<CycleNavigation> registered{{
    .name = "cycle_navigation",
    .family = "chomsky/regular",
    .definition =
        "Reads steps left, stay or right on a cycle of five positions and answers the position where the walk ends.",
    .takes = "The sum of all steps modulo five decides, so the model has to count steps by content; their "
             "order does not matter.",
    .source = "Deletang et al. 2023, arXiv:2207.02098, section 4",
    .published_name = "Cycle Navigation",
    .published = "Trained on lengths 1..40, scored on 41..500; by default ours are 1..20 and 21..100. Steps are "
                 "numbered as in the code.",
    .length_unit = "steps",
    .splits = {{"in_distribution", {}, "the trained lengths"},
               {"ood_length", {{"length", "1.05x/1.5x/2x/3x/4x/5x"}}, "longer than trained"}},
    .largest_answer_fraction = 0.23,
}};

}  // namespace
}  // namespace posbench
