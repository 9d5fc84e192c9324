#include "tasks/parts/digits.h"

#include <algorithm>
#include <boost/multiprecision/cpp_int.hpp>
#include <numeric>

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

BinaryOperands binary_operands(Rng& rng, int length) {
  if (length <= 2) {
    const int n = uniform(rng, 0, (1 << length) - 2);
    return {length == 1 ? Digits{n} : Digits{n % 2, n / 2}, {}};
  }
  const int first = uniform(rng, 1, length - 2);
  Digits a = positive_binary(rng, first), b = positive_binary(rng, length - 1 - first);
  return {std::move(a), std::move(b)};
}

Example ask_binary(Layout layout, const BinaryOperands& operands, const Digits& result, int slots) {
  constexpr int kSign = 2, kBlank = 3;
  std::vector<int> question = operands.first, segments(question.size(), 0);
  std::vector<int> digit_positions = ascending_digit_positions(static_cast<int>(question.size()));
  if (!operands.second.empty()) {
    const std::vector<int> second = ascending_digit_positions(static_cast<int>(operands.second.size()));
    question.push_back(kSign);
    question.insert(question.end(), operands.second.begin(), operands.second.end());
    digit_positions.push_back(0);
    digit_positions.insert(digit_positions.end(), second.begin(), second.end());
    segments.push_back(0);
    segments.resize(question.size(), 1);
  }
  std::vector<int> answer = result;
  answer.push_back(kSign);
  Example example = ask_terminated(layout, std::move(question), kBlank, std::move(answer), slots);
  segments.resize(example.tokens.size(), 2);
  example.segments = std::move(segments);
  set_digit_positions(layout, std::move(digit_positions), ascending_digit_positions(slots), example);
  return example;
}

std::vector<int> ascending_digit_positions(int count) {
  std::vector<int> digit_positions(count);
  std::iota(digit_positions.begin(), digit_positions.end(), 1);
  return digit_positions;
}

void set_digit_positions(Layout layout, std::vector<int> question, const std::vector<int>& answer, Example& example) {
  example.digit_positions = std::move(question);
  if (layout == Layout::teacher_forced) example.digit_positions.push_back(0);
  example.digit_positions.insert(example.digit_positions.end(), answer.begin(), answer.end());
  example.digit_positions.resize(example.tokens.size());
}

}  // namespace posbench
