// First token: what did the sequence begin with? Replace it by your own.
//
//   2 0 1 3 3 _   ->   2
#include "harness/verify/oracles.h"
#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench {
namespace {

class FirstToken final : public Task {
 public:
  struct Options {
    Integers length{1, 20};
    int symbols = 4;
    void describe(OptionTable& o) {
      o.integers("length", length, 1, 10000, "tokens");
      o.integer("symbols", symbols, 2, 100, "different tokens");
    }
  };

  FirstToken(const Options& options, Layout layout) : options_(options), layout_(layout) {}

  int vocabulary() const override { return options_.symbols + 1; }  // and the blank
  double chance_level() const override { return 1.0 / options_.symbols; }
  const Integers& lengths() const override { return options_.length; }
  std::string word(int token) const override { return token == options_.symbols ? "_" : std::to_string(token); }

  Example sample(int length, Rng& rng) const override {
    std::vector<int> tokens;
    for (int n = 0; n < length; ++n) tokens.push_back(uniform(rng, 0, options_.symbols - 1));
    return ask(layout_, tokens, options_.symbols, {tokens.front()});
  }

 private:
  Options options_;
  Layout layout_;
};

const RegisterTask<FirstToken> registered{{
    .name = "first_token",
    .family = "template",
    .definition = "Reads uniform tokens and answers the first of them.",
    .takes = "Attention has to tell the first position from all others.",
    .source = "a template, templates/plugin",
    .length_unit = "tokens",
    .splits = {{"in_distribution", {}, "the trained lengths"},
               {"ood_length", {{"length", "21/30/40"}}, "longer than trained"}},
}};

// The answers by another way than the generator's, from what the model reads: `posbench check first_token` compares.
const RegisterOracle oracle{"first_token", Oracle([](const Example& e) { return Tokens{e.tokens.front()}; }, {"symbols"})};

}  // namespace
}  // namespace posbench
