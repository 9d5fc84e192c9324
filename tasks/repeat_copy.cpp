// Repeat copy: the same tokens again, with only two different ones.
//
//   a b b a a =   ->   a b b a a =
//
// The last token read, and the last few tokens, occurred at many positions: only the position in the sequence
// determines the next token. The answer ends with a second separator, as in `copy`.
//
// Predicted not to generalize to longer sequences: no short RASP-L program is known (Zhou et al. 2023,
// arXiv:2310.16028), and the task is not in C-RASP[periodic, local] (Huang et al. 2024, arXiv:2410.02140; code
// lacoco-lab/length_generalization: 2 tokens, lengths up to 50 trained, 51..100 and 101..150 tested).
#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench {
namespace {

class RepeatCopy final : public Task {
 public:
  struct Options {
    Integers length{1, 20};
    void describe(OptionTable& o) { o.integers("length", length, 1, 10000, "tokens to copy"); }
  };

  RepeatCopy(const Options& options, Layout layout) : options_(options), layout_(layout) {}

  int vocabulary() const override { return kSeparator + 1; }
  double chance_level() const override { return 1.0 / vocabulary(); }
  const Integers& lengths() const override { return options_.length; }
  std::string word(int token) const override { return std::string(1, "ab="[token]); }

  Example sample(int length, Rng& rng) const override {
    std::vector<int> tokens = uniform_tokens(rng, length, 0, 1), answer = tokens;
    answer.push_back(kSeparator);
    return ask(layout_, std::move(tokens), kSeparator, answer);
  }

 private:
  static constexpr int kSeparator = 2;
  Options options_;
  Layout layout_;
};

const RegisterTask<RepeatCopy> registered{{
    .name = "repeat_copy",
    .family = "length_generalization",
    .definition = "Reads tokens of two kinds and answers them again, and where they end.",
    .takes = "Each answer token is as far behind its source as the string is long; tokens repeat, so content "
             "does not find it.",
    .source = "Zhou et al. 2023, arXiv:2310.16028; Huang et al. 2024, arXiv:2410.02140; code "
              "lacoco-lab/length_generalization",
    .published_name = "Copy with repeating tokens; Copy Repeat",
    .published = "Theory predicts that it does not generalize to longer sequences. Published, as exact match at "
                 "51..100 and 101..150 tokens after training on up to 50: 0.26 and 0.00 with learned positions, "
                 "shifted at random in training; 0.28 and 0.00 with none. Ours are the same ratios at two fifths "
                 "of the size. The begin token is left out, one separator serves as both.",
    .length_unit = "tokens",
    .splits = {{"in_distribution", {}, "the trained lengths"},
               {"ood_length2", {{"length", "1x..2x"}}, "up to twice the trained lengths"},
               {"ood_length3", {{"length", "2x..3x"}}, "up to three times the trained lengths"}},
    .largest_answer_fraction = 0.5,
}};

}  // namespace
}  // namespace posbench
