// Draws arithmetic expressions with brackets, modulo 5.
#pragma once
#include <vector>

#include "base/random.h"

namespace posbench {

/// The ids of the brackets and of the last operator in use. Digits are 0..4, + is 5, - is 6, * is 7.
struct ExpressionTokens {
  int open, close;
  int last_operator;  // 6 or 7
};

/// Appends a random expression of exactly `length` tokens, and returns its value modulo 5. With n = length:
///
///   n = 1   d         n = 3   ( d )
///   n = 2   - d       n = 4   ( - d )
///   n >= 5  ( left sign right )   with `left` of uniform length 1 .. n - 4, and `right` of the remaining length
int append_expression(Rng&, int length, const ExpressionTokens&, std::vector<int>& tokens);

}  // namespace posbench
