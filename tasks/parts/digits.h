// Adds and multiplies numbers of any length exactly, and lays them out with their digit positions.
#pragma once
#include <vector>

#include "base/random.h"
#include "tasks/task.h"

namespace posbench {

using Digits = std::vector<int>;  // the digits of a natural number, least significant first

/// The numbers that are written with the least significant digit first.
enum class Reversed { none, answer, all };

/// Returns the result without superfluous zeros; zero is one digit.
Digits add(const Digits& a, const Digits& b, int base);
Digits multiply(const Digits& a, const Digits& b, int base);
/// Returns the square root, rounded down.
Digits square_root(const Digits& a, int base);

/// Draws a uniform number of 1 .. 2^bits - 1 and pads it with zeros to `bits` digits.
Digits positive_binary(Rng&, int bits);

struct Operands {
  Digits first, second;
};

/// Draws two binary numbers that take `length` tokens with a sign between them. From length 3 on, the number of
/// digits of the first is uniform, and both are positive_binary. Below, `first` alone is uniform over 0 ..
/// 2^length - 2, and `second` is empty.
Operands binary_operands(Rng&, int length);

/// Draws a decimal number, uniform over those with `digits` digits. It has no leading zeros except for 0 itself.
Digits decimal_number(Rng&, int digits);

/// Draws two decimal numbers, one of `length` digits and one of 1 to `length`. All such pairs of lengths are
/// equally likely. Each is a decimal_number.
Operands decimal_operands(Rng&, int length);

/// Lays out `first 2 second`, then `result 2` like ask_terminated(), with 3 as the id of the empty token. The
/// operands are segments 0 and 1, the result is segment 2. Sets digit positions.
Example ask_binary(Layout, const Operands&, const Digits& result, int slots);

/// Tokens, and the digit position of each (see Example::digit_positions).
struct DigitTokens {
  std::vector<int> tokens, positions;

  void append(int token, int position = 0);
  /// Appends all digits of a number.
  void append(const Digits&, bool least_significant_first);
};

/// Returns 1, 2, ..., count: the positions of digits that are written least significant first.
std::vector<int> ascending_digit_positions(int count);

/// Sets the digit positions of the example: those of the question, then those of the answer, which are one token
/// later if the answer is teacher forced.
void set_digit_positions(Layout, std::vector<int> question, const std::vector<int>& answer, Example&);

}  // namespace posbench
