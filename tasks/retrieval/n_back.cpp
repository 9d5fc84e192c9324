// Recalls the token n positions before, at every position.
//
//   5 2 7 7 1        steps=2, targets: 5 at the first 7, 2 at the second, 7 at 1
//
// A position reads a token, never an answer, so both layouts are the same. The first `steps` positions have no
// target.
#include <fmt/format.h>

#include <string>

#include "base/error.h"
#include "tasks/parts/basic_task.h"
#include "tasks/registry.h"

namespace posbench::n_back {
namespace {

const TaskInfo kInfo{
    .name = "n_back",
    .family = "retrieval",
    .aspects = {Aspect::order},
    .definition = "The model reads uniform tokens and answers at each position the token n positions before.",
    .requirement = "Attention has to reach exactly one fixed distance back, at every position.",
    .source = "Vasylenko et al. 2025, arXiv:2506.16640; code deep-spin/asentmax",
    .published_name = "2Back",
    .published =
        "The paper has steps=2 and 16 tokens, trains on lengths 32..64 and tests on 64 to 4096. "
        "The published sequence starts with a token 0 and has the target 0 if there is nothing to recall. "
        "Here it starts with the first token and has no target there. The code draws the 15 tokens 1 to 15; "
        "here all 16 are drawn.",
    .length_unit = "tokens",
    .splits = {{"in_distribution", {}, "the trained lengths"},
               {"ood_length2", {{"length", "2x"}}, "twice the trained lengths"},
               {"ood_length4", {{"length", "4x"}}, "four times the trained lengths"}},
    .far = TaskInfo::Far{},
};

struct Options {
  Integers length{32, 64};
  int steps = 2, symbols = 16;
  void describe(OptionTable& o) {
    o.integers("length", length, 2, 100000, "tokens");
    o.integer("steps", steps, 1, 99999, "positions back");
    o.integer("symbols", symbols, 2, 1000, "different tokens");
  }
};

class NBack final : public BasicTask<Options> {
 public:
  NBack(const Options& options, Layout layout) : BasicTask(options, layout) {
    if (options.steps >= options.length.min()) {
      throw InputError(
          fmt::format("task 'n_back': steps {} needs a length of {} at least, not {}; lower it or raise length",
                      options.steps, options.steps + 1, options.length.min()));
    }
  }

  int vocabulary() const override { return options_.symbols; }
  double chance_level() const override { return 1.0 / options_.symbols; }
  std::string token_text(int token) const override { return std::to_string(token); }

  Example sample(int length, Rng& rng) const override {
    Example example{.tokens = uniform_tokens(rng, length, 0, options_.symbols - 1)};
    example.targets.assign(length, kIgnore);
    example.segments.assign(length, 0);
    for (int t = options_.steps; t < length; ++t) {
      example.targets[t] = example.tokens[t - options_.steps];
      example.scored.push_back(t);
      example.evidence.push_back(t - options_.steps);
    }
    return example;
  }
};

const RegisterTask<NBack> registered{kInfo};

}  // namespace
}  // namespace posbench::n_back
