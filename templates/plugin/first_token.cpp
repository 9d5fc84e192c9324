// First token: the answer is the first token of the sequence. Replace it by your own task.
//
//   2 0 1 3 3 _   ->   2
#include <string>
#include <vector>

#include "harness/check/oracles.h"
#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench::first_token {
namespace {

class FirstToken final : public Task {
 public:
  struct Options {
    Integers length{1, 20};
    int symbols = 4;
    void describe(OptionTable& o) {
      o.integers("length", length, 1, 10000, "number of tokens");
      o.integer("symbols", symbols, 2, 100, "number of different tokens");
    }
  };

  FirstToken(const Options& options, Layout layout) : options_(options), layout_(layout) {}

  int vocabulary() const override { return options_.symbols + 1; }  // and the blank
  double chance_level() const override { return 1.0 / options_.symbols; }
  const Integers& lengths() const override { return options_.length; }
  std::string token_text(int token) const override {
    return token == options_.symbols ? "_" : std::to_string(token);
  }

  Example sample(int length, Rng& rng) const override {
    std::vector<int> tokens;
    for (int n = 0; n < length; ++n) tokens.push_back(uniform(rng, 0, options_.symbols - 1));
    Example example = ask(layout_, tokens, options_.symbols, {tokens.front()});
    example.evidence = {0};  // `posbench check` looks for the answer everywhere else
    return example;
  }

 private:
  Options options_;
  Layout layout_;
};

const RegisterTask<FirstToken> registered{{
    .name = "first_token",
    .family = "template",
    .definition = "Reads uniform tokens and answers the first of them.",
    .requirement = "Attention has to tell the first position from all others.",
    .source = "a template, templates/plugin",
    .length_unit = "tokens",
    .splits = {{"in_distribution", {}, "the trained lengths"},
               {"ood_length", {{"length", "1.05x/1.5x/2x"}}, "longer than trained"}},
}};

// Computes the answers from what the model reads, by a different method than the generator. `posbench check
// first_token` compares the two. The oracle is valid for every value of the option `symbols`.
const RegisterOracle oracle("first_token", {"symbols"}, [](const Example& e) { return Tokens{e.tokens.front()}; });

}  // namespace
}  // namespace posbench::first_token
