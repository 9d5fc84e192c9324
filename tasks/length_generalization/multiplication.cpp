// Multiplies two decimal numbers, step by step by default.
//
//   1 2 * 3 4 =   ->   8 4 0 + 6 3 0 = 8 4 0 0 > 8 0 4 0 .     12 * 4 = 048, 12 * 3 = 036, 0048 + 360 = 0408
//   2 1 * 4 3 =   ->   8 4 0 + 6 3 0 = 8 4 0 0 > 8 0 4 0 .     reversed=all: least significant digits first
//   1 2 * 3 4 =   ->   0 4 8 + 0 3 6 = 0 0 4 8 > 0 4 0 8 .     reversed=none
//   1 2 * 3 4 =   ->   8 4 + 6 3 = 8 4 > 8 0 4 .               pad=false
//   1 2 * 3 4 =   ->   8 0 4 0 .                               scratchpad=false
//
// The scratchpad has the products of the first operand with each digit of the second one, from the lowest digit
// on, and then their running sums, each product with as many zeros as its digit has digits below it. The three
// coordinates of a token of the scratchpad are
//   1. the place in the first operand or a product, and 0 in the second operand and the sums;
//   2. the place in the second operand, or the number of the product or sum;
//   3. the place in a sum, or of a product in its sum, and 0 in the operands.
// The token before a number has the place before its first digit. A coordinate is 0 if it is not known while the
// answer is written. This is so for numbers without padding that begin with the most significant digit, or that
// are in slots. Digit positions are 0 in the same cases, except that reversed answers without a scratchpad number
// their slots 1, 2, 3, ...
#include <algorithm>
#include <array>
#include <vector>

#include "tasks/parts/basic_task.h"
#include "tasks/parts/digits.h"
#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench::multiplication {
namespace {

const TaskInfo kInfo{
    .name = "multiplication",
    .family = "length_generalization",
    .aspects = {Aspect::arithmetic},
    .definition =
        "The model reads two decimal numbers and writes their product and an end token. By default it first writes the "
        "products with each digit of the second number and their running sums.",
    .requirement =
        "Each digit of a product with one digit depends on two digits of the operands and on a carry. Each digit of a sum "
        "depends on a product and on the sum before it, in which the same decimal place is at another distance.",
    .source = "Cho et al. 2024, arXiv:2410.15787; code HanseulJo/position-coupling, data/multiplication.py",
    .published_name = "multiplication, with scratchpad",
    .published =
        "The scratchpad, its zeros, the coordinates and the splits are those of the code. Its configuration "
        "trains on 1..10 by 1..4 digits (length=1..10,factor=1..4) and tests on up to 15 by 6; its scripts train "
        "on 1..10 by 1..10 and test on up to 20 by 20. Here the first number has 1 to 3 digits and the second has "
        "1 or 2. Without zeros (pad=false) the numbers of the scratchpad have at least as many digits as the "
        "first operand, as in the code. The code states coordinates of unpadded numbers that are not known yet; "
        "here they are 0. scratchpad=false has digit positions in place of coordinates, as in the code. Cho et "
        "al. 2024, arXiv:2405.20671, multiply by two digits without a scratchpad (scratchpad=false,factor=2).",
    .length_unit = "digits of the first operand",
    .splits = {{"in_distribution", {}, "the trained numbers of digits"},
               {"ood_length", {{"length", "1x..2x"}}, "up to twice the digits in the first operand"},
               {"ood_factor", {{"factor", "1x..2x"}}, "up to twice the digits in the second operand"},
               {"ood_both", {{"length", "1x..2x"}, {"factor", "1x..2x"}}, "both at once"}},
    .largest_answer_fraction = 0.3,
    // Some late positions have the same token in every sample that is long enough.
    .shortcuts = {.token = 1, .neighbor = 0.5, .count = 0.6, .position = 0.34},
};

struct Options {
  Integers length{1, 3}, factor{1, 2};
  bool scratchpad = true;
  Reversed reversed = Reversed::answer;
  bool pad = true;
  void describe(OptionTable& o) {
    o.integers("length", length, 1, 1000, "digits of the first operand");
    o.integers("factor", factor, 1, 1000, "digits of the second operand");
    o.flag("scratchpad", scratchpad,
           "products with each digit of the second operand, and their sums, before the product");
    o.choice("reversed", reversed, {"none", "answer", "all"}, "numbers with their least significant digit first");
    o.flag("pad", pad, "leading zeros, up to the largest possible length of each number of the answer");
  }
};

constexpr int kEnd = 10, kPlus = 11, kEquals = 12, kNext = 13, kTimes = 14;

using Coordinates = std::array<int, 3>;

/// The question, or the answer after the = before it: tokens with their digit positions, segments and coordinates.
struct Part : DigitTokens {
  std::vector<int> segments;
  std::array<std::vector<int>, 3> coordinates;

  void append(int token, int segment, int digit_position = 0, const Coordinates& values = {}) {
    DigitTokens::append(token, digit_position);
    segments.push_back(segment);
    for (size_t n = 0; n < values.size(); ++n) coordinates[n].push_back(values[n]);
  }
  /// Appends all digits. `coordinates_of` returns the coordinates of a digit, the lowest of which is 0.
  template <class CoordinatesOf>
  void append_digits(const Digits& number, bool reversed, int segment, CoordinatesOf coordinates_of) {
    const int count = static_cast<int>(number.size());
    for (int m = 0; m < count; ++m) {
      const int n = reversed ? m : count - 1 - m;
      append(number[n], segment, n + 1, coordinates_of(n));
    }
  }
  /// Appends `before` and then a number, which is a segment. `coordinates_of` returns the coordinates of a place.
  /// The lowest digit is at place 2 of a reversed number, and at place 1 of another one.
  template <class CoordinatesOf>
  void append_number(int before, const Digits& number, bool reversed, CoordinatesOf coordinates_of) {
    const int segment = segments.empty() ? 2 : segments.back() + 1, lowest = reversed ? 2 : 1;
    append(before, segment, 0, coordinates_of(reversed ? 1 : static_cast<int>(number.size()) + 1));
    append_digits(number, reversed, segment, [&](int n) { return coordinates_of(n + lowest); });
  }
  /// Hides where numbers begin and end.
  void hide_places() {
    std::ranges::fill(segments, 2);
    std::ranges::fill(positions, 0);
    for (std::vector<int>& values : coordinates) std::ranges::fill(values, 0);
  }
};

class Multiplication final : public AlphabetTask<Options, "0123456789.+=>*"> {
 public:
  using AlphabetTask::AlphabetTask;
  int answers() const override { return options_.scratchpad ? kTimes : kPlus; }
  double chance_level() const override { return 1.0 / answers(); }

  Example sample(int length, Rng& rng) const override {
    const int factor = draw_if_several(options_.factor, rng);
    const Digits first = decimal_number(rng, length), second = decimal_number(rng, factor);
    const bool reversed = options_.reversed != Reversed::none;
    const int slots = options_.scratchpad ? factor * (2 * length + factor + 3) : length + factor + 1;

    const Part question = make_question(first, second);
    Part answer = options_.scratchpad ? make_scratchpad(first, second) : make_product(first, second);
    answer.append(kEnd, answer.segments.back());
    if (!options_.scratchpad && reversed) {
      answer.positions = ascending_digit_positions(slots);
      answer.positions.insert(answer.positions.begin(), 0);
    } else if (!options_.pad && (layout_ == Layout::slots || !reversed)) {
      answer.hide_places();
    }

    const std::vector<int> answer_tokens(answer.tokens.begin() + 1, answer.tokens.end());
    Example example = ask_terminated(layout_, question.tokens, kEquals, answer_tokens, slots, kEnd);
    example.segments = values_of_tokens(layout_, question.segments, answer.segments, example, 2);
    example.digit_positions = values_of_tokens(layout_, question.positions, answer.positions, example);
    if (!options_.scratchpad) return example;
    for (size_t n = 0; n < answer.coordinates.size(); ++n) {
      example.coordinates.push_back(
          values_of_tokens(layout_, question.coordinates[n], answer.coordinates[n], example));
    }
    return example;
  }

 private:
  Part make_question(const Digits& first, const Digits& second) const {
    const bool reversed = options_.reversed == Reversed::all;
    const int lowest = options_.reversed == Reversed::none ? 1 : 2;  // as in the products
    Part part;
    part.append_digits(first, reversed, 0, [&](int n) { return Coordinates{n + lowest, 0, 0}; });
    part.append(kTimes, 0);
    part.append_digits(second, reversed, 1, [](int n) { return Coordinates{0, n + 1, 0}; });
    return part;
  }

  Part make_scratchpad(const Digits& first, const Digits& second) const {
    const bool reversed = options_.reversed != Reversed::none;
    const int length = static_cast<int>(first.size()), factor = static_cast<int>(second.size());
    Part part;
    std::vector<Digits> sums;
    for (int i = 0; i < factor; ++i) {
      Digits product = multiply(first, {second[i]}, 10);
      Digits shifted(i, 0);
      shifted.insert(shifted.end(), product.begin(), product.end());
      sums.push_back(i == 0 ? shifted : add(sums.back(), shifted, 10));
      fill(product, length, length + 1);
      part.append_number(i == 0 ? kEquals : kPlus, product, reversed, [&](int place) {
        return Coordinates{place, i + 1, place + i};
      });
    }
    for (int i = 0; i < factor; ++i) {
      fill(sums[i], length, length + factor);
      part.append_number(i == 0 ? kEquals : kNext, sums[i], reversed, [&](int place) {
        return Coordinates{0, i + 1, place};
      });
    }
    return part;
  }

  Part make_product(const Digits& first, const Digits& second) const {
    Digits product = multiply(first, second, 10);
    fill(product, 1, static_cast<int>(first.size() + second.size()));
    Part part;
    part.append_number(kEquals, product, options_.reversed != Reversed::none, [](int) { return Coordinates{}; });
    return part;
  }

  /// Adds zeros up to `padded` digits, or without padding up to `least` digits.
  void fill(Digits& number, int least, int padded) const {
    number.resize(std::max(static_cast<int>(number.size()), options_.pad ? padded : least), 0);
  }
};

const RegisterTask<Multiplication> registered{kInfo};

}  // namespace
}  // namespace posbench::multiplication
