// Follows a chain of signs to the value of a variable.
//
//   b + 1 , d - b , a - d , c + a , d _   ->   -        b is +1, d is -b
//
// Variables are distinct letters in random order, signs are uniform. The question, the last token, is a variable
// of the second half of the chain, whose index from 0 is uniform over ceil(n / 2) to n - 1. The distance is the
// number of signs that its value depends on, which is its index plus one.
#include <numeric>
#include <utility>
#include <vector>

#include "tasks/parts/basic_task.h"
#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench {
namespace {

const TaskInfo kInfo{
    .name = "lego",
    .family = "length_generalization",
    .aspects = {Aspect::recall, Aspect::state_tracking},
    .definition =
        "The model reads clauses that give each variable as plus or minus the one before, and answers the sign "
        "of one variable.",
    .requirement =
        "Attention has to find the clause that defines a variable by content, for one variable of the chain "
        "after the other.",
    .source = "Kazemnejad et al. 2023, arXiv:2305.19466; Zhang et al. 2022, arXiv:2206.04301",
    .published_name = "LEGO",
    .published =
        "Kazemnejad et al. train on up to 8 clauses and test on 9..16, as English text (\"If b = +1, d = - b. "
        "Then, what is the value of d?\"; code McGill-NLP/length-generalization). "
        "Here clauses are tokens.",
    .length_unit = "clauses",
    .distance_unit = "clauses to follow",
    .splits = splits_to_twice_the_length(),
    .shortcuts = {.count = 0.73},
};

constexpr int kLetters = 26;
struct Options {
  Integers length{2, 8};
  bool shuffled = false;
  void describe(OptionTable& o) {
    o.integers("length", length, 2, kLetters, "clauses");
    o.flag("shuffled", shuffled, "clauses are in random order");
  }
};

class Lego final : public AlphabetTask<Options, "abcdefghijklmnopqrstuvwxyz+-1,_"> {
 public:
  using AlphabetTask::AlphabetTask;
  double chance_level() const override { return 0.5; }

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
    int negative = 0;
    for (int link = 0; link <= queried; ++link) negative ^= signs[link] == kMinus;

    Example example = ask(layout_, std::move(question), kBlank, {negative ? kMinus : kPlus});
    set_segments(example, std::move(segments), length);
    example.distances = {queried + 1};
    return example;
  }

 private:
  static constexpr int kPlus = 26, kMinus = 27, kOne = 28, kComma = 29, kBlank = 30;
};

const RegisterTask<Lego> registered{kInfo};

}  // namespace
}  // namespace posbench
