// Square root of a binary number, rounded down.   A context-sensitive language.
//
//   1 0 0 1 0 1 _   ->   1 1 0        37 and 6, most significant bit first
//
// Numbers are uniform over 1..2^length - 1, with leading zeros; the answer has length / 2 bits, rounded up, with
// leading zeros. Its first bit is 1 in 75 % of the cases, the second in 62.5 %, and so on: chance is 1/2, and the
// most frequent bit of each position is right for 1/2 + 1/length.
//
// Deletang et al. 2023, arXiv:2207.02098, section 4. The paper writes numbers least significant bit first, its
// code most significant bit first; the code made the published numbers, so its order is the default.
#include <algorithm>

#include "tasks/parts/digits.h"
#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench {
namespace {

class ComputeSqrt final : public Task {
 public:
  enum class Endian { big, little };
  struct Options {
    Integers length{1, 20};
    Endian endian = Endian::big;
    void describe(OptionTable& o) {
      o.integers("length", length, 1, 10000, "bits");
      o.choice("endian", endian, {"big", "little"},
               "most significant bit first, as in the code, or least significant bit first, as in the paper");
    }
  };

  ComputeSqrt(const Options& options, Layout layout) : options_(options), layout_(layout) {}

  int vocabulary() const override { return 3; }  // 0, 1, _
  int answers() const override { return 2; }
  double chance_level() const override { return 0.5; }
  const Integers& lengths() const override { return options_.length; }
  std::string word(int token) const override { return token == kBlank ? "_" : std::to_string(token); }

  Example sample(int length, Rng& rng) const override {
    std::vector<int> question = positive_binary(rng, length);
    std::vector<int> root = square_root(question, 2);
    root.resize((length + 1) / 2, 0);
    if (options_.endian == Endian::big) {
      std::reverse(question.begin(), question.end());
      std::reverse(root.begin(), root.end());
    }
    return ask(layout_, std::move(question), kBlank, root);
  }

 private:
  static constexpr int kBlank = 2;
  Options options_;
  Layout layout_;
};

const RegisterTask<ComputeSqrt> registered{{
    .name = "compute_sqrt",
    .family = "chomsky/context_sensitive",
    .definition = "Reads a binary number and answers its square root, rounded down.",
    .takes = "Every bit of the root depends on all higher bits of the number by their places; no pair of "
             "positions decides it.",
    .source = "Deletang et al. 2023, arXiv:2207.02098, section 4",
    .published_name = "Compute Sqrt",
    .published = "Trained on lengths 1..40, scored on 41..500; by default ours are 1..20 and 21..100. The most "
                 "significant bit comes first, as in the code; endian=little is the paper's.",
    .length_unit = "bits",
    .splits = {{"in_distribution", {}, "the trained lengths"},
               {"ood_length", {{"length", "1.05x/1.5x/2x/3x/4x/5x"}}, "longer than trained"}},
    .largest_answer_fraction = 0.55,
}};

}  // namespace
}  // namespace posbench
