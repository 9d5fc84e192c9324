// Finds the majority of every third bit, for each of three interleaved strings.
//
//   0 1 1  0 0 1  1 0 1 =   ->   0 0 1        the strings are 0 0 1, 1 0 0 and 1 1 1
//
// All strings have the same length. The number of zeros of each string is uniform over 0 to its length; ties are
// drawn again.
#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "tasks/parts/basic_task.h"
#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench::interleaved_majority {
namespace {

const TaskInfo kInfo{
    .name = "interleaved_majority",
    .family = "length_generalization",
    .aspects = {Aspect::counting},
    .definition =
        "The model reads the interleaved bits of three strings and answers the more frequent bit of each string.",
    .requirement =
        "Only positions modulo three distinguish the strings. "
        "Within a string, attention that weighs all bits equally gives the mean that decides.",
    .source = "Huang et al. 2024, arXiv:2410.02140; code lacoco-lab/length_generalization",
    .published_name = "Binary Majority Interleave",
    .published =
        "Theory predicts that the task generalizes to longer sequences with positions, and not without: "
        "C-RASP[periodic, local] expresses positions modulo the number of strings, C-RASP without positional "
        "relations does not. Huang et al. publish exact-match accuracies at 51..100 and 101..150 bits of all "
        "strings after training on up to 50: 0.97 and 0.85 with learned positions, shifted at random in "
        "training; 0.69 and 0.39 with none. With learned positions these are means over the first five runs, which "
        "all solve every test sample of trained lengths. Without positions they are means over five runs of a model "
        "of 12 layers, which solve 0.96 of the samples of trained lengths. "
        "Here the ratios are the same at two fifths of the size. "
        "Begin and end tokens are left out.",
    .length_unit = "bits of each string",
    .splits = splits_to_three_times_the_length(),
    .shortcuts = {.token = 0.86, .neighbor = 0.6, .count = 0.67},
};

struct Options {
  Integers length{1, 7};
  int strings = 3;
  void describe(OptionTable& o) {
    o.integers("length", length, 1, 10000, "bits of each string");
    o.integer("strings", strings, 1, 100, "interleaved strings");
  }
};

class InterleavedMajority final : public AlphabetTask<Options, "01="> {
 public:
  using AlphabetTask::AlphabetTask;
  double chance_level() const override { return 0.5; }

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
};

const RegisterTask<InterleavedMajority> registered{kInfo};

}  // namespace
}  // namespace posbench::interleaved_majority
