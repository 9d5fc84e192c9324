// Exact arithmetic on any number of digits, and digit positions.
#pragma once
#include <vector>

#include "tasks/task.h"

namespace posbench {

using Digits = std::vector<int>;  // of a natural number, least significant first

/// Results have no superfluous zeros; zero is one digit.
Digits add(const Digits& a, const Digits& b, int base);
Digits multiply(const Digits& a, const Digits& b, int base);
/// Rounded down.
Digits square_root(const Digits& a, int base);

/// Uniform over 1..2^bits - 1, padded with zeros to `bits` digits.
Digits positive_binary(Rng&, int bits);

/// Two numbers that take `length` tokens with a sign between them. From length 3 on, the number of digits of the
/// first is uniform, and both are positive_binary; below, `first` alone is uniform over 0..2^length - 2, and
/// `second` is empty.
struct BinaryOperands {
  Digits first, second;
};
BinaryOperands binary_operands(Rng&, int length);

/// `first 2 second`, then `result 2` as ask_terminated() lays it out, with 3 as the id of the empty token.
/// Segments: 0 and 1 the operands, 2 the result. Sets digit positions.
Example ask_binary(Layout, const BinaryOperands&, const Digits& result, int slots);

/// 1, 2, ..., count: the positions of digits that are written least significant first.
std::vector<int> ascending_digit_positions(int count);

/// Sets the digit positions of the example: those of the question, then those of the answer, which are one token
/// later if the answer is teacher forced.
void set_digit_positions(Layout, std::vector<int> question, const std::vector<int>& answer, Example&);

}  // namespace posbench
