// Finds all variables that were assigned one value, directly or through another variable.
//
//   . x = 7 ; . k = 3 ; y = x ; . . m = k ; z = y ; .  7 =   ->   x y z
//
// Each chain starts with a value and passes it on `hops` times; chains have distinct variables and values. Their
// statements are in random order among noise, but those of a chain are in order. The distance is the number of
// tokens back to the statement of a variable.
#include <fmt/format.h>

#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

#include "base/error.h"
#include "tasks/parts/basic_task.h"
#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench::variable_tracking {
namespace {

const TaskInfo kInfo{
    .name = "variable_tracking",
    .family = "retrieval",
    .aspects = {Aspect::recall},
    .definition =
        "The model reads assignments of values and of variables among noise, then a value, and answers the "
        "variables that got it, in order.",
    .requirement =
        "Attention has to find by content the assignment of a value, then each variable that was given that "
        "variable in turn.",
    .source = "Hsieh et al. 2024, arXiv:2404.06654; code NVIDIA/RULER",
    .published_name = "variable tracking (VT)",
    .published =
        "RULER has one chain of 4 hops as text, among sentences of noise or essays, up to 128 000 tokens, to "
        "prompt large models; any order of the answer counts. "
        "Here the task is small: tokens, two chains of 2 hops, and the order of assignment.",
    .length_unit = "tokens of noise",
    .distance_unit = "tokens",
    .splits = {{"in_distribution", {}, "the trained noise and chains"},
               {"ood_length", {{"length", "4x"}}, "more noise"},
               {"ood_chains", {{"chains", "4"}}, "twice the chains"},
               {"ood_hops", {{"hops", "4"}}, "longer chains"}},
    .far = TaskInfo::Far{},
    .shortcuts = {.token = 0.08, .neighbor = 0.12, .count = 0.12},
    .learnability = Learnability::open,
    .learnability_note =
        "The model of the quick profile was trained with seed 0 and hops=1: 15,000 steps at a learning rate "
        "of 3e-3 with length=2..4, and 20,000 at 1e-3 with length=4..8. rope and txl have half of the "
        "sequences right, because they guess which chain is asked for.",
};

constexpr int kVariables = 26, kValues = 10;
struct Options {
  Integers length{8, 16};
  int chains = 2, hops = 2;
  void describe(OptionTable& o) {
    o.integers("length", length, 0, 100000, "tokens of noise");
    o.integer("chains", chains, 1, kValues, "values that are passed on; one is queried");
    o.integer("hops", hops, 0, kVariables - 1, "number of times that each is passed on");
  }
};

class VariableTracking final : public AlphabetTask<Options, "abcdefghijklmnopqrstuvwxyz0123456789=;."> {
 public:
  VariableTracking(const Options& options, Layout layout) : AlphabetTask(options, layout) {
    if (options.chains * (options.hops + 1) > kVariables) {
      throw InputError(
          fmt::format("task 'variable_tracking': {} chains of {} hops need more than the {} variables; lower one",
                      options.chains, options.hops, kVariables));
    }
  }

  double chance_level() const override { return 1.0 / kVariables; }

  Example sample(int length, Rng& rng) const override {
    const int links = options_.hops + 1, noise = options_.chains;
    std::vector<int> variables(kVariables), values(kValues), order(length, noise);
    std::iota(variables.begin(), variables.end(), 0);
    std::iota(values.begin(), values.end(), kValue);
    shuffle<int>(variables, rng);
    shuffle<int>(values, rng);
    for (int chain = 0; chain < options_.chains; ++chain) order.insert(order.end(), links, chain);
    shuffle<int>(order, rng);

    const int queried = uniform(rng, 0, options_.chains - 1);
    std::vector<int> question, segments, answer, evidence, next_link(options_.chains, 0);
    for (size_t n = 0; n < order.size(); ++n) {
      const int chain = order[n];
      if (chain == noise) {
        question.push_back(kNoise);
      } else {
        const int link = next_link[chain]++, variable = chain * links + link;
        if (chain == queried) {
          answer.push_back(variables[variable]);
          evidence.push_back(static_cast<int>(question.size()));
        }
        question.insert(question.end(), {variables[variable], kEquals,
                                         link == 0 ? values[chain] : variables[variable - 1], kSemicolon});
      }
      segments.resize(question.size(), static_cast<int>(n));
    }
    question.push_back(values[queried]);
    Example example = ask(layout_, std::move(question), kEquals, answer);
    set_segments(example, std::move(segments), static_cast<int>(order.size()));
    set_evidence(example, std::move(evidence));
    return example;
  }

 private:
  static constexpr int kValue = 26, kEquals = 36, kSemicolon = 37, kNoise = 38;
};

const RegisterTask<VariableTracking> registered{kInfo};

}  // namespace
}  // namespace posbench::variable_tracking
