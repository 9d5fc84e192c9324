// Finds the most frequent token.
//
//   b a b b a =   ->   b
//
// With two tokens, the number of `a` is uniform over 0 to all, and the rest are `b`, in random order. With more
// tokens, they are independent and uniform. Ties are drawn again.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tasks/parts/basic_task.h"
#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench::majority {
namespace {

const TaskInfo kInfo{
    .name = "majority",
    .family = "length_generalization",
    .aspects = {Aspect::counting},
    .definition = "The model reads tokens and answers the one that is most frequent.",
    .requirement = "Attention that weighs all tokens equally gives the counts that decide. No position is needed.",
    .source =
        "Huang et al. 2024, arXiv:2410.02140; code lacoco-lab/length_generalization; Zhou et al. 2023, "
        "arXiv:2310.16028",
    .published_name = "Binary Majority; Majority (symbols=26); Mode",
    .published =
        "Theory predicts that the task generalizes to longer sequences, with positions and without, because "
        "C-RASP without positional relations expresses it. "
        "Zhou et al. call it mode, and find a short RASP-L program. "
        "Huang et al. publish accuracies at 51..100 and 101..150 tokens after training on up to 50: 1.00 and "
        "1.00 with two symbols, 1.00 and 0.98 with 26 symbols. "
        "The results are the same with learned positions, shifted at random in training, and with none. "
        "These are means over the first five runs that solve all test samples of trained lengths. "
        "With 26 symbols and no positions the authors' files have 16 runs, of which five do so; in the other three "
        "cases the first five runs do. "
        "Here the ratios are the same at two fifths of the size. "
        "Begin and end tokens are left out.",
    .length_unit = "tokens",
    .splits = splits_to_three_times_the_length(),
    .shortcuts = {.token = 0.79, .neighbor = 0.75, .count = 0.95},
};

struct Options {
  Integers length{1, 20};
  int symbols = 2;
  void describe(OptionTable& o) {
    o.integers("length", length, 1, 10000, "tokens");
    o.integer("symbols", symbols, 2, 26, "different tokens");
  }
};

class Majority final : public BasicTask<Options> {
 public:
  using BasicTask::BasicTask;
  int vocabulary() const override { return options_.symbols + 1; }
  double chance_level() const override { return 1.0 / options_.symbols; }
  std::string token_text(int token) const override {
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

  /// Returns the most frequent token, or kIgnore for a tie.
  int most_frequent(const std::vector<int>& tokens) const {
    std::vector<int> counts(options_.symbols, 0);
    for (const int token : tokens) ++counts[token];
    const auto most = std::max_element(counts.begin(), counts.end());
    return std::count(counts.begin(), counts.end(), *most) > 1 ? kIgnore : static_cast<int>(most - counts.begin());
  }
};

const RegisterTask<Majority> registered{kInfo};

}  // namespace
}  // namespace posbench::majority
