// Follows a chain of signs to the values of its variables.
//
//   b + 1 , d - b , a - d , c + a _     ->   + - + +    b is +1, d is -b, a is -d, c is +a
//   b + 1 , d - b , a - d , c + a , d _ ->   -          answer=one
//
// Variables are distinct letters in random order, signs are uniform. With answer=one, the question, the last
// token, is a variable of the second half of the chain, whose index from 0 is uniform over ceil(n / 2) to n - 1.
// The distance is the number of signs that a value depends on, which is the index of its variable plus one.
#include <numeric>
#include <utility>
#include <vector>

#include "tasks/parts/basic_task.h"
#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench::lego {
namespace {

const TaskInfo kInfo{
    .name = "lego",
    .family = "length_generalization",
    .version = 2,
    .aspects = {Aspect::recall, Aspect::state_tracking},
    .definition =
        "The model reads clauses that give each variable as plus or minus the one before, and answers the "
        "signs of all variables in the order of the chain, or of one.",
    .requirement =
        "Attention has to find the clause that defines a variable by content, for one variable of the chain "
        "after the other.",
    .source = "Kazemnejad et al. 2023, arXiv:2305.19466; Zhang et al. 2022, arXiv:2206.04301",
    .published_name = "LEGO",
    .published =
        "Kazemnejad et al. train on up to 8 clauses and test on 9..16, as English text (\"If b = +1, d = - b. "
        "Then, what is the value of d?\"; code McGill-NLP/length-generalization). "
        "Here clauses are tokens, and there is a target for each variable, as in training by Zhang et al.; answer=one "
        "is the query of Kazemnejad et al.",
    .length_unit = "clauses",
    .distance_unit = "clauses to follow",
    .splits = splits_to_twice_the_length(),
    .shortcuts = {.token = 0.65, .neighbor = 0.66, .count = 0.57},
};

constexpr int kLetters = 26;
enum class Answer { one, all };
struct Options {
  Integers length{2, 8};
  bool shuffled = false;
  Answer answer = Answer::all;
  void describe(OptionTable& o) {
    o.integers("length", length, 2, kLetters, "clauses");
    o.flag("shuffled", shuffled, "clauses are in random order");
    o.choice("answer", answer, {"one", "all"},
             "the sign of one variable, or the signs of all variables in the order of the chain");
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
    int first = 0, last = length - 1;  // first and last index of the variables whose signs are answers
    if (options_.answer == Answer::one) {
      first = last = uniform(rng, (length + 1) / 2, length - 1);
      question.push_back(letters[last]);
    }
    std::vector<int> answer, distances;
    bool is_negative = false;
    for (int link = 0; link <= last; ++link) {
      is_negative ^= signs[link] == kMinus;
      if (link < first) continue;
      answer.push_back(is_negative ? kMinus : kPlus);
      distances.push_back(link + 1);
    }

    Example example = ask(layout_, std::move(question), kBlank, answer);
    set_segments(example, std::move(segments), length);
    example.distances = std::move(distances);
    return example;
  }

 private:
  static constexpr int kPlus = 26, kMinus = 27, kOne = 28, kComma = 29, kBlank = 30;
};

const RegisterTask<Lego> registered{kInfo};

}  // namespace
}  // namespace posbench::lego
