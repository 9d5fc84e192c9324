// Oracles of the tasks in tasks/chomsky.
#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "harness/check/oracles.h"
#include "harness/check/oracles/schoolbook.h"
#include "harness/check/oracles/token_lists.h"

namespace posbench::chomsky {
namespace {

/// Returns the value modulo 5 of an expression whose token t is written signs[t]. Uses two stacks (Dijkstra's
/// shunting yard). A minus without a number before it is a unary minus, written ~ on the stack.
int evaluate(const Tokens& tokens, const std::string& signs) {
  std::vector<int> values;
  std::string pending;
  const auto apply = [&] {
    const char sign = pending.back();
    const int right = values.back();
    pending.pop_back();
    values.pop_back();
    if (sign == '~') return values.push_back((5 - right) % 5);
    int& left = values.back();
    left = (sign == '+' ? left + right : sign == '-' ? left + 5 - right : left * right) % 5;
  };
  const auto binds = [](char sign) { return sign == '(' ? 0 : sign == '~' ? 3 : sign == '*' ? 2 : 1; };
  bool number_before = false;
  for (const int token : tokens) {
    const char sign = signs[token];
    if (sign >= '0' && sign <= '4') {
      values.push_back(sign - '0');
    } else if (sign == '(') {
      pending.push_back(sign);
    } else if (sign == ')') {
      while (pending.back() != '(') apply();
      pending.pop_back();
    } else if (sign == '-' && !number_before) {
      pending.push_back('~');
    } else {
      while (!pending.empty() && binds(pending.back()) >= binds(sign)) apply();
      pending.push_back(sign);
    }
    number_before = sign == ')' || (sign >= '0' && sign <= '4');
  }
  while (!pending.empty()) apply();
  return values.at(0);
}

const RegisterOracle binary_addition("binary_addition", [](const Example& e) {
  const auto [a, b] = operands(2, question(e));
  return joined(schoolbook::sum(a, b, 2), {2});
});

const RegisterOracle binary_multiplication("binary_multiplication", [](const Example& e) {
  const Tokens tokens = question(e);
  if (tokens.size() == 1) return Tokens{2};
  const auto [a, b] = operands(2, tokens);
  return joined(schoolbook::product(a, b, 2), {2});
});

const RegisterOracle bucket_sort("bucket_sort", [](const Example& e) {
  Tokens sorted;
  for (int digit = 0; digit < 5; ++digit) sorted.resize(sorted.size() + count(question(e), digit), digit);
  return sorted;
});

const RegisterOracle compute_sqrt("compute_sqrt", [](const Example& e) {
  Tokens root = schoolbook::square_root(reversed(question(e)));
  root.resize((question(e).size() + 1) / 2, 0);
  return reversed(root);
});

const RegisterOracle cycle_navigation("cycle_navigation", [](const Example& e) {
  int position = 0;
  for (const int step : question(e)) {
    if (step == 0) position = position == 0 ? 4 : position - 1;
    if (step == 2) position = position == 4 ? 0 : position + 1;
  }
  return Tokens{position};
});

const RegisterOracle duplicate_string("duplicate_string",
                                      [](const Example& e) { return joined(question(e), question(e)); });

const RegisterOracle even_pairs("even_pairs", [](const Example& e) {
  const Tokens bits = question(e);
  int unequal = 0;
  for (size_t i = 1; i < bits.size(); ++i) unequal += bits[i] != bits[i - 1];
  return Tokens{unequal % 2};
});

const RegisterOracle missing_string("missing_duplicate_string", [](const Example& e) {
  const Tokens bits = without(3, question(e));
  const size_t hidden = std::find(bits.begin(), bits.end(), 2) - bits.begin();
  return Tokens{hidden == bits.size() ? 1 : bits[(hidden + bits.size() / 2) % bits.size()]};
});

const RegisterOracle modular_arithmetic("modular_arithmetic", {"even"}, [](const Example& e) {
  return Tokens{evaluate(question(e), "01234+-*")};
});

const RegisterOracle brackets("modular_arithmetic_brackets",
                              [](const Example& e) { return Tokens{evaluate(question(e), "01234+-*()")}; });

const RegisterOracle odds_first("odds_first", [](const Example& e) {
  Tokens even, odd;
  for (const int bit : question(e)) {
    even.push_back(bit);
    std::swap(even, odd);
  }
  return question(e).size() % 2 == 0 ? joined(odd, even) : joined(even, odd);
});

const RegisterOracle parity_check("parity_check",
                                  [](const Example& e) { return Tokens{count(question(e), 1) % 2}; });

const RegisterOracle reverse_string("reverse_string", [](const Example& e) {
  Tokens answer = question(e);
  for (size_t i = 0, j = answer.size(); i + 1 < j; ++i) std::swap(answer[i], answer[--j]);
  return answer;
});

// Tries all digits.
const RegisterOracle solve_equation("solve_equation", [](const Example& e) {
  const auto [expression, value] = operands(10, question(e));
  if (value.empty()) return Tokens{0};
  Tokens solutions;
  for (int x = 0; x < 5; ++x) {
    Tokens tried = expression;
    std::replace(tried.begin(), tried.end(), 9, x);
    if (evaluate(tried, "01234+-()") == value.at(0)) solutions.push_back(x);
  }
  return solutions;  // exactly one, or the test fails
});

// Reads from the last action back: a pop removes the nearest remaining bit before it.
const RegisterOracle stack_manipulation("stack_manipulation", [](const Example& e) {
  const Tokens tokens = question(e);
  Tokens stack;
  int pops = 0;
  for (auto token = tokens.rbegin(); token != tokens.rend(); ++token) {
    if (*token == 2) {
      ++pops;
    } else if (pops > 0) {
      --pops;
    } else {
      stack.push_back(*token < 2 ? *token : *token - 3);
    }
  }
  return joined(stack, {2});
});

}  // namespace
}  // namespace posbench::chomsky
