#include "tasks/parts/expressions.h"

#include <vector>

namespace posbench {

int append_expression(Rng& rng, int length, const ExpressionTokens& ids, std::vector<int>& tokens) {
  constexpr int kModulus = 5, kPlus = 5, kMinus = 6;
  if (length >= 3) tokens.push_back(ids.open);
  int value = 0;
  if (length <= 4) {
    const int digit = uniform(rng, 0, kModulus - 1);
    const bool negative = length % 2 == 0;
    if (negative) tokens.push_back(kMinus);
    tokens.push_back(digit);
    value = negative ? (kModulus - digit) % kModulus : digit;
  } else {
    const int left_length = uniform(rng, 1, length - 4), sign = uniform(rng, kPlus, ids.last_operator);
    const int left = append_expression(rng, left_length, ids, tokens);
    tokens.push_back(sign);
    const int right = append_expression(rng, length - 3 - left_length, ids, tokens);
    value = (sign == kPlus ? left + right : sign == kMinus ? left + kModulus - right : left * right) % kModulus;
  }
  if (length >= 3) tokens.push_back(ids.close);
  return value;
}

}  // namespace posbench
