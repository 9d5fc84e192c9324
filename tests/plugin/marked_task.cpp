// A task that is marked, as a plug-in. The answer does not depend on the question, so no model can learn it.
#include <string>
#include <vector>

#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench {
namespace {

constexpr int kSymbols = 4;

class MarkedTask final : public Task {
 public:
  struct Options {
    Integers length{1, 4};
    void describe(OptionTable& o) { o.integers("length", length, 1, 100, "number of tokens"); }
  };

  MarkedTask(const Options& options, Layout layout) : options_(options), layout_(layout) {}

  int vocabulary() const override { return kSymbols + 1; }  // and the blank
  double chance_level() const override { return 1.0 / kSymbols; }
  const Integers& lengths() const override { return options_.length; }
  std::string token_text(int token) const override { return token == kSymbols ? "_" : std::to_string(token); }

  Example sample(int length, Rng& rng) const override {
    const std::vector<int> question = uniform_tokens(rng, length, 0, kSymbols - 1);
    return ask(layout_, question, kSymbols, {uniform(rng, 0, kSymbols - 1)});
  }

 private:
  Options options_;
  Layout layout_;
};

const RegisterTask<MarkedTask> registered{{
    .name = "marked_task",
    .family = "test",
    .definition = "Reads uniform tokens and answers a token that does not depend on them.",
    .requirement = "No model can predict the answer.",
    .source = "a test",
    .length_unit = "tokens",
    .splits = {{"in_distribution", {}, "the trained lengths"},
               {"ood_length", {{"length", "2x"}}, "longer than trained"}},
    .learnability = Learnability::open,
    .learnability_note = "Nothing was tried.",
}};

}  // namespace
}  // namespace posbench
