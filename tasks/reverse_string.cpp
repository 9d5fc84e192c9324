// Reverse string: the same bits, last first.   A deterministic context-free language.
//
//   0 1 1 0 1 0 _   ->   0 1 0 1 1 0
//
// Deletang et al. 2023, arXiv:2207.02098, section 4. The answer is as long as the question, so nothing ends it;
// `reverse` is the form over more symbols that must also stop.
#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench {
namespace {

class ReverseString final : public Task {
 public:
  struct Options {
    Integers length{1, 20};
    void describe(OptionTable& o) { o.integers("length", length, 1, 10000, "bits"); }
  };

  ReverseString(const Options& options, Layout layout) : options_(options), layout_(layout) {}

  int vocabulary() const override { return 3; }  // 0, 1, _
  int answers() const override { return 2; }
  double chance_level() const override { return 0.5; }
  const Integers& lengths() const override { return options_.length; }
  std::string word(int token) const override { return token == kBlank ? "_" : std::to_string(token); }

  Example sample(int length, Rng& rng) const override {
    const std::vector<int> bits = uniform_tokens(rng, length, 0, 1);
    return ask(layout_, bits, kBlank, {bits.rbegin(), bits.rend()});
  }

 private:
  static constexpr int kBlank = 2;
  Options options_;
  Layout layout_;
};

const RegisterTask<ReverseString> registered{{
    .name = "reverse_string",
    .family = "chomsky/deterministic_context_free",
    .definition = "Reads uniform bits and answers them in reverse order.",
    .takes = "The distance from an answer bit to its source grows by two from one to the next.",
    .source = "Deletang et al. 2023, arXiv:2207.02098, section 4",
    .published_name = "Reverse String",
    .published = "Trained on lengths 1..40, scored on 41..500; by default ours are 1..20 and 21..100.",
    .length_unit = "bits",
    .splits = {{"in_distribution", {}, "the trained lengths"},
               {"ood_length", {{"length", "1.05x/1.5x/2x/3x/4x/5x"}}, "longer than trained"}},
}};

}  // namespace
}  // namespace posbench
