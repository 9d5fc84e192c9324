// Interleaved majority: the majority of every third bit, for each of three interleaved strings.
//
//   0 1 1  0 0 1  1 0 1 =   ->   0 0 1        the strings are 0 0 1, 1 0 0 and 1 1 1
//
// The number of zeros of each string is uniform over 0 to its length; ties are drawn again. All strings have the
// same length.
//
// Predicted to generalize to longer sequences only with positions: the strings are distinguished by position
// modulo their number, which C-RASP[periodic, local] expresses and C-RASP without positional relations does not
// (Huang et al. 2024, arXiv:2410.02140; code lacoco-lab/length_generalization: three strings, 3 to 50 bits
// trained, 51..100 and 101..150 tested).
#include <algorithm>

#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench {
namespace {

class InterleavedMajority final : public Task {
 public:
  struct Options {
    Integers length{1, 7};
    int strings = 3;
    void describe(OptionTable& o) {
      o.integers("length", length, 1, 10000, "bits of each string");
      o.integer("strings", strings, 1, 100, "interleaved strings");
    }
  };

  InterleavedMajority(const Options& options, Layout layout) : options_(options), layout_(layout) {}

  int vocabulary() const override { return 3; }  // 0, 1, =
  double chance_level() const override { return 0.5; }
  const Integers& lengths() const override { return options_.length; }
  std::string word(int token) const override { return std::string(1, "01="[token]); }

  Example sample(int length, Rng& rng) const override {
    std::vector<int> question(static_cast<size_t>(length) * options_.strings), answer;
    for (int string = 0; string < options_.strings; ++string) {
      int zeros = 0;
      do {
        zeros = uniform(rng, 0, length);
      } while (2 * zeros == length);
      std::vector<int> bits(length, 1);
      std::fill_n(bits.begin(), zeros, 0);
      shuffle<int>(bits, rng);
      for (int n = 0; n < length; ++n) question[n * options_.strings + string] = bits[n];
      answer.push_back(2 * zeros < length);
    }
    return ask(layout_, std::move(question), kBlank, answer);
  }

 private:
  static constexpr int kBlank = 2;
  Options options_;
  Layout layout_;
};

const RegisterTask<InterleavedMajority> registered{{
    .name = "interleaved_majority",
    .family = "length_generalization",
    .definition = "Reads the interleaved bits of three strings and answers the more frequent bit of each string.",
    .takes = "Only positions modulo three tell the strings apart; within one, attention to all bits alike "
             "gives the mean that decides.",
    .source = "Huang et al. 2024, arXiv:2410.02140; code lacoco-lab/length_generalization",
    .published_name = "Binary Majority Interleave",
    .published = "Theory predicts that it generalizes to longer sequences with positions, and not without. "
                 "Published, as exact match at 51..100 and 101..150 bits in all after training on up to 50: 0.97 "
                 "and 0.85 with learned positions, shifted at random in training; 0.69 and 0.39 with none. Ours "
                 "are the same ratios at two fifths of the size. Begin and end tokens are left out.",
    .length_unit = "bits of each string",
    .splits = {{"in_distribution", {}, "the trained lengths"},
               {"ood_length2", {{"length", "1x..2x"}}, "up to twice the trained lengths"},
               {"ood_length3", {{"length", "2x..3x"}}, "up to three times the trained lengths"}},
}};

}  // namespace
}  // namespace posbench
