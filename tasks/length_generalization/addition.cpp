// Adds two decimal numbers.
//
//   5 1 + 7 9 2 =     ->   2 1 3 =          15 + 297, reversed=all: least significant digits first
//   1 5 + 2 9 7 =     ->   2 1 3 =          reversed=answer
//   1 5 + 2 9 7 =     ->   3 1 2 =          reversed=none
//   5 1 0 + 7 9 2 =   ->   2 1 3 0 =        pad=true: operands of one length, a sum of one digit more
//
// decimal_operands() draws the operands. The slots fit the longest sum of such operands and its =; slots after the
// = have the target =, which is not scored. The digit positions of an unpadded answer with its most significant
// digit first are 0, because they are unknown until the answer is complete.
#include <utility>
#include <vector>

#include "tasks/parts/basic_task.h"
#include "tasks/parts/digits.h"
#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench {
namespace {

const TaskInfo kInfo{
    .name = "addition",
    .family = "length_generalization",
    .aspects = {Aspect::arithmetic},
    .definition = "The model reads two decimal numbers and answers their sum, and then its end.",
    .requirement =
        "Each digit of the sum depends on the two digits of its decimal place, whose distance grows with the "
        "operands, and on a carry from all lower places.",
    .source = "Kazemnejad et al. 2023, arXiv:2305.19466",
    .published_name = "addition",
    .published =
        "Kazemnejad et al. write the most significant digit first (reversed=none), train on up to 8 digits, "
        "test on 9..16, and draw all pairs of numbers of digits with equal probability. "
        "Here all lengths of the longer operand are equally likely, and the answer ends with a second =. "
        "All numbers have their least significant digit first, as in McLeish et al. 2024, arXiv:2405.17399: "
        "each digit is then as far from the start of its number as its decimal position. "
        "Cho et al. 2024, arXiv:2405.20671, pad the operands and reverse the answer (pad=true,reversed=answer).",
    .length_unit = "digits",
    .splits = splits_to_twice_the_length(),
    .largest_answer_fraction = 0.18,
    .shortcuts = {.token = 0.23, .neighbor = 0.25, .count = 0.2, .position = 0.21},
};

enum class Reversed { none, answer, all };
struct Options {
  Integers length{1, 8};
  Reversed reversed = Reversed::all;
  bool pad = false;
  void describe(OptionTable& o) {
    o.integers("length", length, 1, 1000, "digits of the longer operand");
    o.choice("reversed", reversed, {"none", "answer", "all"}, "numbers with their least significant digit first");
    o.flag("pad", pad, "zeros fill the operands to one length, the answer to one digit more");
  }
};

class Addition final : public AlphabetTask<Options, "0123456789+="> {
 public:
  using AlphabetTask::AlphabetTask;
  double chance_level() const override { return 1.0 / 11; }

  Example sample(int length, Rng& rng) const override {
    auto [a, b] = decimal_operands(rng, length);
    Digits sum = add(a, b, 10);
    if (options_.pad) {
      a.resize(length, 0);
      b.resize(length, 0);
      sum.resize(length + 1, 0);
    }

    const bool operands_reversed = options_.reversed == Reversed::all;
    const bool answer_reversed = options_.reversed != Reversed::none;
    DigitTokens question, answer;
    question.append(a, operands_reversed);
    question.append(kPlus);
    std::vector<int> segments(question.tokens.size(), 0);
    question.append(b, operands_reversed);
    segments.resize(question.tokens.size(), 1);
    answer.append(sum, answer_reversed);
    answer.tokens.push_back(kEquals);
    const int slots = length + 2;
    if (answer_reversed) {
      answer.positions = ascending_digit_positions(slots);
    } else if (!options_.pad) {
      answer.positions.assign(slots, 0);
    }

    Example example =
        ask_terminated(layout_, std::move(question.tokens), kEquals, std::move(answer.tokens), slots, kEquals);
    set_segments(example, std::move(segments), 2);
    set_digit_positions(layout_, std::move(question.positions), answer.positions, example);
    return example;
  }

 private:
  static constexpr int kPlus = 10, kEquals = 11;
};

const RegisterTask<Addition> registered{kInfo};

}  // namespace
}  // namespace posbench
