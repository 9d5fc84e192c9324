// Addition: the sum of two decimal numbers.
//
//   5 1 + 7 9 2 =     ->   2 1 3 =          15 + 297, reversed=all: least significant digits first
//   1 5 + 2 9 7 =     ->   2 1 3 =          reversed=answer
//   1 5 + 2 9 7 =     ->   3 1 2 =          reversed=none
//   5 1 0 + 7 9 2 =   ->   2 1 3 0 =        pad=true: operands of one length, a sum of one digit more
//
// One operand has `length` digits, the other from one to `length`; all such pairs are equally likely. A number of
// k digits is uniform, without leading zeros except for 0 itself. The answer ends with a second =. There are slots
// for the longest sum of such operands and its =; slots after the = have the target =, unscored.
//
// Example::digit_positions gives encodings that index digits (Abacus, position coupling) the position of each
// digit in its number. For an unpadded answer with its most significant digit first they are 0, because they are
// unknown until the answer is complete.
//
// Kazemnejad et al. 2023, arXiv:2305.19466, writes reversed=none and draws all pairs of 1..8 digits with equal
// probability; here lengths are equally likely. McLeish et al. 2024, arXiv:2405.17399, reverses all numbers, which
// is our default: each digit is then as far from the start of its number as its decimal position. Cho et al. 2024,
// arXiv:2405.20671, pads and reverses the answer.
#include <algorithm>

#include "tasks/parts/digits.h"
#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench {
namespace {

class Addition final : public Task {
 public:
  enum class Reversed { none, answer, all };
  struct Options {
    Integers length{1, 8};
    Reversed reversed = Reversed::all;
    bool pad = false;
    void describe(OptionTable& o) {
      o.integers("length", length, 1, 1000, "digits of the longer operand");
      o.choice("reversed", reversed, {"none", "answer", "all"},
               "numbers with their least significant digit first");
      o.flag("pad", pad, "zeros fill the operands to one length, the answer to one digit more");
    }
  };

  Addition(const Options& options, Layout layout) : options_(options), layout_(layout) {}

  int vocabulary() const override { return 12; }
  double chance_level() const override { return 1.0 / 11; }
  const Integers& lengths() const override { return options_.length; }
  std::string word(int token) const override { return std::string(1, "0123456789+="[token]); }

  Example sample(int length, Rng& rng) const override {
    const int pair = uniform(rng, 0, 2 * length - 2);
    Digits a = draw(rng, std::min(pair + 1, length)), b = draw(rng, std::min(2 * length - 1 - pair, length));
    Digits sum = add(a, b, 10);
    if (options_.pad) {
      a.resize(length, 0);
      b.resize(length, 0);
      sum.resize(length + 1, 0);
    }

    const bool operands_reversed = options_.reversed == Reversed::all;
    const bool answer_reversed = options_.reversed != Reversed::none;
    std::vector<int> question, digit_positions, segments;
    append(a, operands_reversed, question, digit_positions);
    question.push_back(kPlus);
    digit_positions.push_back(0);
    segments.assign(question.size(), 0);
    append(b, operands_reversed, question, digit_positions);
    segments.resize(question.size(), 1);

    std::vector<int> answer, answer_digit_positions;
    append(sum, answer_reversed, answer, answer_digit_positions);
    answer.push_back(kEquals);
    const int slots = length + 2;
    if (answer_reversed) {
      answer_digit_positions = ascending_digit_positions(slots);
    } else if (!options_.pad) {
      answer_digit_positions.assign(slots, 0);
    }

    Example example = ask_terminated(layout_, std::move(question), kEquals, std::move(answer), slots, kEquals);
    segments.resize(example.tokens.size(), 2);
    example.segments = std::move(segments);
    set_digit_positions(layout_, std::move(digit_positions), answer_digit_positions, example);
    return example;
  }

 private:
  static constexpr int kPlus = 10, kEquals = 11;

  static Digits draw(Rng& rng, int digits) {
    Digits number = uniform_tokens(rng, digits, 0, 9);
    if (digits > 1) number.back() = uniform(rng, 1, 9);
    return number;
  }

  /// Appends the digits of a number in the order in which they are written, and their digit positions.
  static void append(const Digits& number, bool reversed, std::vector<int>& tokens,
                     std::vector<int>& digit_positions) {
    const std::vector<int> ascending = ascending_digit_positions(static_cast<int>(number.size()));
    if (reversed) {
      tokens.insert(tokens.end(), number.begin(), number.end());
      digit_positions.insert(digit_positions.end(), ascending.begin(), ascending.end());
    } else {
      tokens.insert(tokens.end(), number.rbegin(), number.rend());
      digit_positions.insert(digit_positions.end(), ascending.rbegin(), ascending.rend());
    }
  }

  Options options_;
  Layout layout_;
};

const RegisterTask<Addition> registered{{
    .name = "addition",
    .family = "length_generalization",
    .definition = "Reads two decimal numbers and answers their sum, and where it ends.",
    .takes = "Each digit of the sum depends on the two digits of its decimal place, whose distance grows with "
             "the operands, and on a carry from all lower places.",
    .source = "Kazemnejad et al. 2023, arXiv:2305.19466",
    .published_name = "addition",
    .published = "Most significant digit first (reversed=none), trained on up to 8 digits, tested on 9..16. Ours "
                 "has the least significant digit first, as McLeish et al. 2024, all lengths of the longer "
                 "operand equally often, and ends with a second =.",
    .length_unit = "digits",
    .splits = {{"in_distribution", {}, "the trained lengths"},
               {"ood_length", {{"length", "1x..2x"}}, "up to twice the trained lengths"}},
    .largest_answer_fraction = 0.18,
}};

}  // namespace
}  // namespace posbench
