// Unique copy: the same tokens again, all different.
//
//   3 7 1 9 =   ->   3 7 1 9 =
//
// Each token occurs once, so an induction head (find the last token read, take the one after it) copies at any
// length. The answer ends with a second separator, as in `copy`.
//
// Predicted to generalize to longer sequences, with positions: the task has a short RASP-L program (Zhou et al.
// 2023, arXiv:2310.16028), and is in C-RASP[periodic, local] but needs its local relation (Huang et al. 2024,
// arXiv:2410.02140; code lacoco-lab/length_generalization: 150 tokens, lengths up to 50 trained, 51..100 and
// 101..150 tested). `repeat_copy` is the form that is predicted to fail.
#include <stdexcept>

#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench {
namespace {

class UniqueCopy final : public Task {
 public:
  struct Options {
    Integers length{1, 20};
    int symbols = 60;
    void describe(OptionTable& o) {
      o.integers("length", length, 1, 10000, "tokens to copy");
      o.integer("symbols", symbols, 2, 10000, "different tokens");
    }
  };

  UniqueCopy(const Options& options, Layout layout) : options_(options), layout_(layout) {
    if (options.length.max() > options.symbols) {
      throw std::invalid_argument(
          fmt::format("task 'unique_copy': length {} needs as many symbols, not {}; raise symbols or lower length",
                      options.length.max(), options.symbols));
    }
  }

  int vocabulary() const override { return options_.symbols + 1; }
  double chance_level() const override { return 1.0 / vocabulary(); }
  const Integers& lengths() const override { return options_.length; }
  std::string word(int token) const override { return token == separator() ? "=" : std::to_string(token); }

  Example sample(int length, Rng& rng) const override {
    std::vector<int> tokens = distinct(rng, options_.symbols, length);
    shuffle<int>(tokens, rng);
    std::vector<int> answer = tokens;
    answer.push_back(separator());
    return ask(layout_, std::move(tokens), separator(), answer);
  }

 private:
  int separator() const { return options_.symbols; }
  Options options_;
  Layout layout_;
};

const RegisterTask<UniqueCopy> registered{{
    .name = "unique_copy",
    .family = "length_generalization",
    .definition = "Reads tokens, no two of which are alike, and answers them again, and where they end.",
    .takes = "No two tokens are alike, so attention finds the last answer by content and reads the token "
             "after it.",
    .source = "Zhou et al. 2023, arXiv:2310.16028; Huang et al. 2024, arXiv:2410.02140; code "
              "lacoco-lab/length_generalization",
    .published_name = "Copy with unique tokens; Unique Copy",
    .published = "Theory predicts that it generalizes to longer sequences, where positions can be told apart. "
                 "Published, as exact match at 51..100 and 101..150 tokens after training on up to 50: 1.00 and "
                 "0.99 with learned positions, shifted at random in training; 0.18 and 0.00 with none. 150 "
                 "different tokens; ours are the same ratios at two fifths of the size. The begin token is left "
                 "out, one separator serves as both.",
    .length_unit = "tokens",
    .splits = {{"in_distribution", {}, "the trained lengths"},
               {"ood_length2", {{"length", "1x..2x"}}, "up to twice the trained lengths"},
               {"ood_length3", {{"length", "2x..3x"}}, "up to three times the trained lengths"}},
    .largest_answer_fraction = 0.09,
}};

}  // namespace
}  // namespace posbench
