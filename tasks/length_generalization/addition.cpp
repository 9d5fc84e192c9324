// Adds decimal numbers, two by default.
//
//   5 1 + 7 9 2 =     ->   2 1 3 =          15 + 297, reversed=all: least significant digits first
//   1 5 + 2 9 7 =     ->   2 1 3 =          reversed=answer
//   1 5 + 2 9 7 =     ->   3 1 2 =          reversed=none
//   5 1 0 + 7 9 2 =   ->   2 1 3 0 =        pad=true: operands of one length, a sum of one digit more
//   5 1 + 7 9 2 + 8 = ->   0 2 3 =          operands=3
//
// decimal_operands() draws the first two operands. Further ones have a uniform number of digits. The slots fit the
// longest sum of such operands and its =; slots after the = have the target =, which is not scored. The digit
// positions of an unpadded answer with its most significant digit first are 0, because they are unknown until the
// answer is complete.
#include <string>
#include <utility>
#include <vector>

#include "tasks/parts/basic_task.h"
#include "tasks/parts/digits.h"
#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench::addition {
namespace {

const TaskInfo kInfo{
    .name = "addition",
    .family = "length_generalization",
    .aspects = {Aspect::arithmetic},
    .definition = "The model reads two or more decimal numbers and answers their sum, and then its end.",
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
        "Cho et al. 2024, arXiv:2405.20671, pad the operands and reverse the answer (pad=true,reversed=answer). "
        "Cho et al. 2024, arXiv:2410.15787, add more than two numbers (such as operands=2..10), with a scratchpad, "
        "which is left out here. Their code pads more than two operands to the length of the largest possible sum; here pad=true "
        "pads them to that of the longest operand.",
    .length_unit = "digits",
    .splits = splits_to_twice_the_length(),
    .largest_answer_fraction = 0.18,
    .shortcuts = {.token = 0.23, .neighbor = 0.25, .count = 0.2, .position = 0.21},
};

struct Options {
  Integers length{1, 8};
  Reversed reversed = Reversed::all;
  bool pad = false;
  Integers operands{2};
  void describe(OptionTable& o) {
    o.integers("length", length, 1, 1000, "digits of the longer operand");
    o.choice("reversed", reversed, {"none", "answer", "all"}, "numbers with their least significant digit first");
    o.flag("pad", pad, "zeros fill the operands to one length, the answer to that of the longest sum");
    o.integers("operands", operands, 2, 1000, "numbers to add");
  }
};

class Addition final : public AlphabetTask<Options, "0123456789+="> {
 public:
  using AlphabetTask::AlphabetTask;
  double chance_level() const override { return 1.0 / 11; }

  Example sample(int length, Rng& rng) const override {
    const int count = draw_if_several(options_.operands, rng);
    const int carried = static_cast<int>(std::to_string(options_.operands.max() - 1).size());
    std::vector<Digits> operands = draw_operands(rng, length, count);
    Digits sum{0};
    for (const Digits& operand : operands) sum = add(sum, operand, 10);
    if (options_.pad) {
      for (Digits& operand : operands) operand.resize(length, 0);
      sum.resize(length + carried, 0);
    }

    const bool operands_reversed = options_.reversed == Reversed::all;
    const bool answer_reversed = options_.reversed != Reversed::none;
    DigitTokens question, answer;
    std::vector<int> segments;
    for (int n = 0; n < count; ++n) {
      if (n > 0) question.append(kPlus);
      segments.resize(question.tokens.size(), n - 1);
      question.append(operands[n], operands_reversed);
      segments.resize(question.tokens.size(), n);
    }
    answer.append(sum, answer_reversed);
    answer.tokens.push_back(kEquals);
    const int slots = length + carried + 1;
    if (answer_reversed) {
      answer.positions = ascending_digit_positions(slots);
    } else if (!options_.pad) {
      answer.positions.assign(slots, 0);
    }

    Example example =
        ask_terminated(layout_, std::move(question.tokens), kEquals, std::move(answer.tokens), slots, kEquals);
    set_segments(example, std::move(segments), count);
    set_digit_positions(layout_, std::move(question.positions), answer.positions, example);
    return example;
  }

 private:
  static constexpr int kPlus = 10, kEquals = 11;

  static std::vector<Digits> draw_operands(Rng& rng, int length, int count) {
    auto [first, second] = decimal_operands(rng, length);
    std::vector<Digits> operands{std::move(first), std::move(second)};
    while (static_cast<int>(operands.size()) < count)
      operands.push_back(decimal_number(rng, uniform(rng, 1, length)));
    return operands;
  }
};

const RegisterTask<Addition> registered{kInfo};

}  // namespace
}  // namespace posbench::addition
