#include "tasks/parts/digits.h"

#include <algorithm>
#include <boost/multiprecision/cpp_int.hpp>
#include <numeric>
#include <utility>
#include <vector>

#include "tasks/parts/examples.h"

namespace posbench {
namespace {

using Natural = boost::multiprecision::cpp_int;

Natural number(const Digits& digits, int base) {
  Natural n = 0;
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit) n = n * base + *digit;
  return n;
}

Digits digits(Natural n, int base) {
  Digits digits;
  do {
    digits.push_back(static_cast<int>(n % base));
    n /= base;
  } while (n != 0);
  return digits;
}

}  // namespace

Digits add(const Digits& a, const Digits& b, int base) { return digits(number(a, base) + number(b, base), base); }

Digits multiply(const Digits& a, const Digits& b, int base) {
  return digits(number(a, base) * number(b, base), base);
}

Digits square_root(const Digits& a, int base) { return digits(sqrt(number(a, base)), base); }

Digits positive_binary(Rng& rng, int bits) {
  Digits number;
  do {
    number = uniform_tokens(rng, bits, 0, 1);
  } while (std::count(number.begin(), number.end(), 1) == 0);
  return number;
}

Operands binary_operands(Rng& rng, int length) {
  if (length <= 2) {
    const int n = uniform(rng, 0, (1 << length) - 2);
    return {length == 1 ? Digits{n} : Digits{n % 2, n / 2}, {}};
  }
  const int first = uniform(rng, 1, length - 2);
  Digits a = positive_binary(rng, first), b = positive_binary(rng, length - 1 - first);
  return {std::move(a), std::move(b)};
}

Digits decimal_number(Rng& rng, int digits) {
  Digits number = uniform_tokens(rng, digits, 0, 9);
  if (digits > 1) number.back() = uniform(rng, 1, 9);
  return number;
}

Operands decimal_operands(Rng& rng, int length) {
  const int pair = uniform(rng, 0, 2 * length - 2);
  Digits a = decimal_number(rng, std::min(pair + 1, length));
  Digits b = decimal_number(rng, std::min(2 * length - 1 - pair, length));
  return {std::move(a), std::move(b)};
}

Example ask_binary(Layout layout, const Operands& operands, const Digits& result, int slots) {
  constexpr int kSign = 2, kBlank = 3;
  DigitTokens question;
  question.append(operands.first, true);
  std::vector<int> segments;
  if (!operands.second.empty()) {
    question.append(kSign);
    segments.resize(question.tokens.size(), 0);
    question.append(operands.second, true);
  }
  segments.resize(question.tokens.size(), operands.second.empty() ? 0 : 1);
  std::vector<int> answer = result;
  answer.push_back(kSign);
  Example example = ask_terminated(layout, std::move(question.tokens), kBlank, std::move(answer), slots);
  set_segments(example, std::move(segments), 2);
  set_digit_positions(layout, std::move(question.positions), ascending_digit_positions(slots), example);
  return example;
}

void DigitTokens::append(int token, int position) {
  tokens.push_back(token);
  positions.push_back(position);
}

void DigitTokens::append(const Digits& number, bool least_significant_first) {
  const int count = static_cast<int>(number.size());
  for (int m = 0; m < count; ++m) {
    const int n = least_significant_first ? m : count - 1 - m;
    append(number[n], n + 1);
  }
}

std::vector<int> ascending_digit_positions(int count) {
  std::vector<int> digit_positions(count);
  std::iota(digit_positions.begin(), digit_positions.end(), 1);
  return digit_positions;
}

void set_digit_positions(Layout layout, std::vector<int> question, const std::vector<int>& answer,
                         Example& example) {
  std::vector<int> blank_and_answer{0};
  blank_and_answer.insert(blank_and_answer.end(), answer.begin(), answer.end());
  example.digit_positions = values_of_tokens(layout, std::move(question), blank_and_answer, example);
}

}  // namespace posbench
