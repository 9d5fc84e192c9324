// LEGO: follow a chain of signs to a variable's value.
//
//   b + 1 , d - b , a - d , c + a , d _   ->   -        b is +1, d is -b
//
// Each clause gives a variable as + or - the one before it, the first as +1 or -1. Variables are distinct letters
// in random order, signs are uniform. The question, its last token, is a variable of the second half of the chain:
// its index, counted from 0, is uniform over ceil(n / 2) to n - 1. The distance is the number of signs that its
// value depends on, which is its index plus one.
//
// Zhang et al. 2022, arXiv:2206.04301; in the form of Kazemnejad et al. 2023, arXiv:2305.19466, and its
// code McGill-NLP/length-generalization, where it is text ("If b = +1, d = - b. Then, what is the value of d?").
#include <numeric>

#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench {
namespace {

class Lego final : public Task {
 public:
  struct Options {
    Integers length{2, 8};
    bool shuffled = false;
    void describe(OptionTable& o) {
      o.integers("length", length, 2, kLetters, "clauses");
      o.flag("shuffled", shuffled, "clauses are in random order");
    }
  };

  Lego(const Options& options, Layout layout) : options_(options), layout_(layout) {}

  int vocabulary() const override { return 31; }
  double chance_level() const override { return 0.5; }
  const Integers& lengths() const override { return options_.length; }
  std::string word(int token) const override { return std::string(1, "abcdefghijklmnopqrstuvwxyz+-1,_"[token]); }

  Example sample(int length, Rng& rng) const override {
    std::vector<int> letters(kLetters), order(length);
    std::iota(letters.begin(), letters.end(), 0);
    std::iota(order.begin(), order.end(), 0);
    shuffle<int>(letters, rng);
    const std::vector<int> signs = uniform_tokens(rng, length, kPlus, kMinus);
    if (options_.shuffled) shuffle<int>(order, rng);

    std::vector<int> question, segments;
    for (int n = 0; n < length; ++n) {
      const int link = order[n];
      question.insert(question.end(), {letters[link], signs[link], link == 0 ? kOne : letters[link - 1], kComma});
      segments.insert(segments.end(), 4, n);
    }
    const int queried = uniform(rng, (length + 1) / 2, length - 1);
    question.push_back(letters[queried]);
    segments.insert(segments.end(), 2, length);
    int negative = 0;
    for (int link = 0; link <= queried; ++link) negative ^= signs[link] == kMinus;

    Example example = ask(layout_, std::move(question), kBlank, {negative ? kMinus : kPlus});
    example.segments = std::move(segments);
    example.distances = {queried + 1};
    return example;
  }

 private:
  static constexpr int kLetters = 26, kPlus = 26, kMinus = 27, kOne = 28, kComma = 29, kBlank = 30;
  Options options_;
  Layout layout_;
};

const RegisterTask<Lego> registered{{
    .name = "lego",
    .family = "length_generalization",
    .definition = "Reads clauses that give each variable as plus or minus the one before, and answers the sign of one.",
    .takes = "Attention has to find the clause that defines a variable by content, for one variable of the "
             "chain after the other.",
    .source = "Kazemnejad et al. 2023, arXiv:2305.19466; Zhang et al. 2022, arXiv:2206.04301",
    .published_name = "LEGO",
    .published = "Trained on up to 8 clauses, tested on 9..16. Clauses are tokens, not words.",
    .length_unit = "clauses",
    .distance_unit = "clauses to follow",
    .splits = {{"in_distribution", {}, "the trained lengths"},
               {"ood_length", {{"length", "1x..2x"}}, "up to twice the trained lengths"}},
}};

}  // namespace
}  // namespace posbench
