// Parity check: is the number of ones odd?   A regular language.
//
//   1 0 1 0 1 0 0 _   ->   1        three ones
//   0 1 1 1 1 _       ->   0        four ones
//
// Deletang et al. 2023, arXiv:2207.02098. Bits are uniform, so both answers are equally likely.
#include <numeric>

#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench {
namespace {

class ParityCheck final : public Task {
 public:
  struct Options {
    Integers length{1, 20};
    void describe(OptionTable& o) { o.integers("length", length, 1, 10000, "bits"); }
  };

  ParityCheck(const Options& options, Layout layout) : options_(options), layout_(layout) {}

  int vocabulary() const override { return 3; }  // 0, 1, _
  int answers() const override { return 2; }
  double chance_level() const override { return 0.5; }
  const Integers& lengths() const override { return options_.length; }
  std::string word(int token) const override { return token == kBlank ? "_" : std::to_string(token); }

  Example sample(int length, Rng& rng) const override {
    const std::vector<int> bits = uniform_tokens(rng, length, 0, 1);
    const int ones = std::accumulate(bits.begin(), bits.end(), 0);
    return ask(layout_, bits, kBlank, {ones % 2});
  }

 private:
  static constexpr int kBlank = 2;
  Options options_;
  Layout layout_;
};

const RegisterTask<ParityCheck> registered{{
    .name = "parity_check",
    .family = "chomsky/regular",
    .definition = "Reads uniform bits and answers the number of ones modulo 2.",
    .takes = "Every bit changes the answer, so the model has to keep a state, or a count whose parity it can "
             "read at any size.",
    .source = "Deletang et al. 2023, arXiv:2207.02098, section 4",
    .published_name = "Parity Check",
    .published = "Trained on lengths 1..40, scored on 41..500; our default lengths are half of that.",
    .length_unit = "bits",
    .splits = {{"in_distribution", {}, "the trained lengths"},
               {"ood_length", {{"length", "1.05x/1.5x/2x/3x/4x/5x"}}, "longer than trained"}},
}};

}  // namespace
}  // namespace posbench
