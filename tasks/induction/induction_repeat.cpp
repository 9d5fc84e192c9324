// Continues the second copy of a block of random tokens.
//
//   5 2 7 1 | 5 2 7 1        all tokens of the second block but the first are predictable and scored
//
// The token after a repeated id is determined only by the order of the block; few ids repeat within a block. The
// distance to the answer equals the block length, so no distances are reported in addition to the lengths.
#include <string>
#include <utility>
#include <vector>

#include "tasks/parts/basic_task.h"
#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench::induction_repeat {
namespace {

const TaskInfo kInfo{
    .name = "induction_repeat",
    .family = "induction",
    .aspects = {Aspect::recall},
    .definition =
        "The model reads a block of uniform tokens and the same block again, without a separator, and answers "
        "every token of the second block but its first.",
    .requirement =
        "Attention has to find the earlier occurrence of the same token, by content or at a distance of one "
        "block, and read the token after it.",
    .source = "after Olsson et al. 2022, arXiv:2209.11895",
    .published_name = "repeated random tokens",
    .published =
        "The paper measures induction heads of trained language models on repeated random tokens. "
        "The vocabulary, lengths and splits are ours.",
    .length_unit = "tokens of a block",
    .causal_only = true,
    .splits = {{"in_distribution", {}, "the trained lengths"},
               {"ood_length2", {{"length", "1x..2x"}}, "up to twice the trained lengths"},
               {"ood_length4", {{"length", "2x..4x"}}, "up to four times the trained lengths"}},
    .shortcuts = {.token = 0.1, .neighbor = 0.04, .count = 0.07},
};

struct Options {
  Integers length{8, 24};
  int vocabulary = 64;
  Loss loss = Loss::clean;
  void describe(OptionTable& o) {
    o.integers("length", length, 2, 100000, "tokens of a block");
    o.integer("vocabulary", vocabulary, 2, 100000, "ids");
    describe_loss(o, loss, "the repeated tokens");
  }
};

class InductionRepeat final : public BasicTask<Options> {
 public:
  using BasicTask::BasicTask;
  int vocabulary() const override { return options_.vocabulary; }
  double chance_level() const override { return 1.0 / options_.vocabulary; }
  std::string token_text(int token) const override { return std::to_string(token); }

  Example sample(int length, Rng& rng) const override {
    const std::vector<int> block = uniform_tokens(rng, length, 0, options_.vocabulary - 1);
    std::vector<int> sequence = block, scored;
    sequence.insert(sequence.end(), block.begin(), block.end());
    for (int n = 0; n < length - 1; ++n) scored.push_back(length + n);
    Example example = predict_next(std::move(sequence), std::move(scored), options_.loss);
    for (int t = length; t < 2 * length - 1; ++t) example.segments[t] = 1;
    return example;
  }
};

const RegisterTask<InductionRepeat> registered{kInfo};

}  // namespace
}  // namespace posbench::induction_repeat
