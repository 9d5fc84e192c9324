// Majority: the most frequent token.
//
//   b a b b a =   ->   b
//
// With two tokens, the number of `a` is uniform over 0 to all, and the rest are `b`, in random order; with more
// tokens, they are independent and uniform. Ties are drawn again. The order does not matter.
//
// Predicted to generalize to longer sequences, with and without positions: uniform attention alone compares the
// counts, which C-RASP without positional relations expresses (Huang et al. 2024, arXiv:2410.02140; code
// lacoco-lab/length_generalization: bin_majority, and majority with symbols=26; lengths up to 50 trained, 51..100
// and 101..150 tested). Zhou et al. 2023, arXiv:2310.16028, call it mode, and find a short RASP-L program.
#include <algorithm>

#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench {
namespace {

class Majority final : public Task {
 public:
  struct Options {
    Integers length{1, 20};
    int symbols = 2;
    void describe(OptionTable& o) {
      o.integers("length", length, 1, 10000, "tokens");
      o.integer("symbols", symbols, 2, 26, "different tokens");
    }
  };

  Majority(const Options& options, Layout layout) : options_(options), layout_(layout) {}

  int vocabulary() const override { return options_.symbols + 1; }
  double chance_level() const override { return 1.0 / options_.symbols; }
  const Integers& lengths() const override { return options_.length; }
  std::string word(int token) const override {
    return token == options_.symbols ? "=" : std::string(1, static_cast<char>('a' + token));
  }

  Example sample(int length, Rng& rng) const override {
    std::vector<int> tokens;
    int most = kIgnore;
    while (most == kIgnore) {
      tokens = draw(length, rng);
      most = most_frequent(tokens);
    }
    return ask(layout_, std::move(tokens), options_.symbols, {most});
  }

 private:
  std::vector<int> draw(int length, Rng& rng) const {
    if (options_.symbols > 2) return uniform_tokens(rng, length, 0, options_.symbols - 1);
    std::vector<int> tokens(length, 1);
    std::fill_n(tokens.begin(), uniform(rng, 0, length), 0);
    shuffle<int>(tokens, rng);
    return tokens;
  }

  /// The most frequent token; kIgnore for a tie.
  int most_frequent(const std::vector<int>& tokens) const {
    std::vector<int> counts(options_.symbols, 0);
    for (const int token : tokens) ++counts[token];
    const auto most = std::max_element(counts.begin(), counts.end());
    return std::count(counts.begin(), counts.end(), *most) > 1 ? kIgnore : static_cast<int>(most - counts.begin());
  }

  Options options_;
  Layout layout_;
};

const RegisterTask<Majority> registered{{
    .name = "majority",
    .family = "length_generalization",
    .definition = "Reads tokens and answers the one that is most frequent.",
    .takes = "Attention to all tokens alike gives the counts that decide; no position is needed.",
    .source = "Huang et al. 2024, arXiv:2410.02140; code lacoco-lab/length_generalization; Zhou et al. 2023, "
              "arXiv:2310.16028",
    .published_name = "Binary Majority; Majority (symbols=26); Mode",
    .published = "Theory predicts that it generalizes to longer sequences, with positions and without. Published, "
                 "at 51..100 and 101..150 tokens after training on up to 50: two symbols 1.00 and 1.00, 26 "
                 "symbols 1.00 and 0.98, alike with learned positions, shifted at random in training, and with "
                 "none. Ours are the same ratios at two fifths of the size. Begin and end tokens are left out.",
    .length_unit = "tokens",
    .splits = {{"in_distribution", {}, "the trained lengths"},
               {"ood_length2", {{"length", "1x..2x"}}, "up to twice the trained lengths"},
               {"ood_length3", {{"length", "2x..3x"}}, "up to three times the trained lengths"}},
}};

}  // namespace
}  // namespace posbench
