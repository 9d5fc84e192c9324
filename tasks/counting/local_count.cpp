// Counts how often the token has already occurred in the current run.
//
//   ^ 7 7 7 2 2 7 7 7 7        targets: 0 1 2 0 1 0 1 2 3
//
// Runs have uniform lengths, and neighboring runs have different tokens. A position reads a token, never an
// answer, so both layouts are the same. The distance is the number of tokens back to the start of the run, which
// is the answer.
#include <fmt/format.h>

#include <string>

#include "base/error.h"
#include "tasks/parts/basic_task.h"
#include "tasks/registry.h"

namespace posbench::local_count {
namespace {

const TaskInfo kInfo{
    .name = "local_count",
    .family = "counting",
    .version = 2,
    .aspects = {Aspect::counting},
    .definition =
        "The model reads runs of tokens and answers at each position how often its token has been read already "
        "in this run.",
    .requirement =
        "The model has to count equal tokens back to the start of the run and no farther. "
        "Other runs may have the same token, so to count all its occurrences is wrong.",
    .source = "Vasylenko et al. 2025, arXiv:2506.16640; code deep-spin/asentmax",
    .published_name = "Local Count",
    .published =
        "The paper has 16 tokens and runs of 2..48 (run=2..48,longest=48), trains on 64 to 128 tokens and tests "
        "on up to 4096. There the number of runs follows from a number of tokens; here it is the length. "
        "The begin token (^) makes the first run countable, because attention over equal tokens alone returns "
        "their common value, whatever its weights. The end token is left out. "
        "The splits are ours.",
    .length_unit = "runs",
    .distance_unit = "tokens back to the start of the run",
    .splits = {{"in_distribution", {}, "the trained number and lengths of runs"},
               {"ood_length", {{"length", "4x"}}, "four times the runs, of the trained lengths"},
               {"ood_short_runs", {{"run", "2..4"}, {"length", "3x"}}, "shorter runs, in as many tokens"}},
    .largest_answer_fraction = 0.34,
    .shortcuts = {.count = 0.35, .position = 0.37},
};

struct Options {
  Integers length{4};
  Integers run{2, 16};
  int symbols = 16, longest = 16;
  void describe(OptionTable& o) {
    o.integers("length", length, 1, 10000, "runs");
    o.integers("run", run, 1, 1000, "tokens of a run");
    o.integer("symbols", symbols, 2, 1000, "different tokens");
    o.integer("longest", longest, 1, 1000, "tokens of the longest run that the vocabulary can count");
  }
};

class LocalCount final : public BasicTask<Options> {
 public:
  LocalCount(const Options& options, Layout layout) : BasicTask(options, layout) {
    if (options.run.max() > options.longest) {
      throw InputError(fmt::format("task 'local_count': run {} is longer than longest {}; raise longest",
                                   options.run.max(), options.longest));
    }
  }

  int vocabulary() const override { return begin() + 1; }
  double chance_level() const override { return 1.0 / options_.longest; }
  std::string token_text(int token) const override {
    if (token == begin()) return "^";
    return token < options_.symbols ? fmt::format("t{}", token) : std::to_string(token - options_.symbols);
  }

  Example sample(int length, Rng& rng) const override {
    Example example{.tokens = {begin()}, .targets = {kIgnore}, .segments = {0}};
    int token = uniform(rng, 0, options_.symbols - 1);
    for (int run = 0; run < length; ++run) {
      const int tokens = options_.run.draw(rng);
      for (int n = 0; n < tokens; ++n) {
        example.scored.push_back(static_cast<int>(example.tokens.size()));
        example.tokens.push_back(token);
        example.targets.push_back(options_.symbols + n);
        example.segments.push_back(run);
        example.distances.push_back(n);
      }
      token = (token + uniform(rng, 1, options_.symbols - 1)) % options_.symbols;
    }
    return example;
  }

 private:
  int begin() const { return options_.symbols + options_.longest; }
};

const RegisterTask<LocalCount> registered{kInfo};

}  // namespace
}  // namespace posbench::local_count
