// Induction by repetition: a block of random tokens, then the same block again.
//
//   5 2 7 1 | 5 2 7 1        all but the first token of the second block are predictable and scored
//
// Ids are uniform, so that few repeat within a block; the token after a repeated id is determined only by the
// order of the block. The distance to the answer equals the block length everywhere, so no distances are reported
// besides the lengths. There is no separator.
//
// After Olsson et al. 2022, arXiv:2209.11895, who measure induction heads on repeated random tokens; lengths are
// ours.
#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench {
namespace {

class InductionRepeat final : public Task {
 public:
  struct Options {
    Integers length{8, 24};
    int vocabulary = 64;
    Loss loss = Loss::clean;
    void describe(OptionTable& o) {
      o.integers("length", length, 2, 100000, "tokens of a block");
      o.integer("vocabulary", vocabulary, 2, 100000, "ids");
      o.choice("loss", loss, {"clean", "noisy"}, "train on the repeated tokens, or on every next token");
    }
  };

  InductionRepeat(const Options& options, Layout) : options_(options) {}

  int vocabulary() const override { return options_.vocabulary; }
  double chance_level() const override { return 1.0 / options_.vocabulary; }
  const Integers& lengths() const override { return options_.length; }
  std::string word(int token) const override { return std::to_string(token); }

  Example sample(int length, Rng& rng) const override {
    const std::vector<int> block = uniform_tokens(rng, length, 0, options_.vocabulary - 1);
    std::vector<int> sequence = block, scored;
    sequence.insert(sequence.end(), block.begin(), block.end());
    for (int n = 0; n < length - 1; ++n) scored.push_back(length + n);
    Example example = predict_next(std::move(sequence), std::move(scored), options_.loss);
    for (int t = length; t < 2 * length - 1; ++t) example.segments[t] = 1;
    return example;
  }

 private:
  Options options_;
};

const RegisterTask<InductionRepeat> registered{{
    .name = "induction_repeat",
    .family = "induction",
    .definition =
        "Reads a block of uniform tokens and the same block again, and answers every token of the second block "
        "but its first.",
    .takes = "Attention has to find the earlier occurrence of the same token, by content or at a distance of "
             "one block, and read the token after it.",
    .source = "after Olsson et al. 2022, arXiv:2209.11895",
    .published_name = "repeated random tokens",
    .published =
        "The paper measures trained language models on such sequences; vocabulary, lengths and splits are ours.",
    .length_unit = "tokens of a block",
    .causal_only = true,
    .splits = {{"in_distribution", {}, "the trained lengths"},
               {"ood_length2", {{"length", "1x..2x"}}, "up to twice the trained lengths"},
               {"ood_length4", {{"length", "2x..4x"}}, "up to four times the trained lengths"}},
}};

}  // namespace
}  // namespace posbench
