// Oracles of the tasks in tasks/length_generalization.
#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <map>
#include <utility>
#include <vector>

#include "harness/check/oracles.h"
#include "harness/check/oracles/schoolbook.h"
#include "harness/check/oracles/token_lists.h"

namespace posbench::length_generalization {
namespace {

// Both numbers and the sum are written least significant digit first.
const RegisterOracle addition("addition", [](const Example& e) {
  const auto [a, b] = operands(10, question(e));
  return joined(schoolbook::sum(a, b, 10), {11});
});

const RegisterOracle copy("copy", {"symbols"},
                          [](const Example& e) { return joined(question(e), {e.tokens[e.scored.front()]}); });

// With the default options, ids up to 12 are no hints.
const RegisterOracle index_hint_addition("index_hint_addition", [](const Example& e) {
  const auto [a, b] = operands(10, question(e));
  Tokens digits[2], hints;
  for (const int token : a) (token < 13 ? digits[0] : hints).push_back(token);
  for (const int token : b) {
    if (token < 13) digits[1].push_back(token);
  }
  Tokens sum =
      schoolbook::sum(schoolbook::trimmed(reversed(digits[0])), schoolbook::trimmed(reversed(digits[1])), 10);
  sum.resize(hints.size(), 0);
  Tokens answer;
  for (size_t n = 0; n < sum.size(); ++n) answer = joined(answer, {hints[hints.size() - 1 - n], sum[n]});
  return joined(answer, {12});
});

// With the default options, a hint precedes every bit.
const RegisterOracle index_hint_parity("index_hint_parity", [](const Example& e) {
  const Tokens tokens = question(e);
  Tokens steps;
  for (size_t t = 1; t < tokens.size(); t += 2) {
    const Tokens read(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(t) + 1);
    if (tokens[t] == 1) steps = joined(steps, {tokens[t - 1], count(read, 1) % 2});
  }
  return joined(steps, {3});
});

const RegisterOracle interleaved_majority("interleaved_majority", {"strings"}, [](const Example& e) {
  const Tokens bits = question(e);
  const size_t strings = e.scored.size();
  Tokens majorities;
  for (size_t first = 0; first < strings; ++first) {
    int lead = 0;
    for (size_t t = first; t < bits.size(); t += strings) lead += 2 * bits[t] - 1;
    majorities.push_back(lead > 0);
  }
  return majorities;
});

/// Returns the signs of the clauses from a variable to the number 1, at the start of the chain.
Tokens signs_of_chain(const Example& e, int variable) {
  Tokens signs;
  while (variable != 28) {
    size_t clause = 0;
    while (e.tokens[clause] != variable) clause += 4;
    signs.push_back(e.tokens[clause + 1]);
    variable = e.tokens[clause + 2];
  }
  return signs;
}

/// Returns the signs of the chain of each variable whose sign is an answer: the queried one, or all, shortest
/// chain first.
std::vector<Tokens> answered_chains(const Example& e) {
  const Tokens asked = question(e);
  if (asked.size() % 4 == 1) return {signs_of_chain(e, asked.back())};
  std::vector<Tokens> chains;
  for (size_t clause = 0; clause < asked.size(); clause += 4) chains.push_back(signs_of_chain(e, asked[clause]));
  std::ranges::sort(chains, {}, &Tokens::size);
  return chains;
}

const RegisterOracle lego(
    "lego", {"shuffled", "answer"},
    [](const Example& e) {
      Tokens answers;
      for (const Tokens& signs : answered_chains(e)) answers.push_back(26 + count(signs, 27) % 2);
      return answers;
    },
    [](const Example& e) {
      std::vector<int> clauses;
      for (const Tokens& signs : answered_chains(e)) clauses.push_back(static_cast<int>(signs.size()));
      return clauses;
    });

const RegisterOracle majority("majority", {"symbols"}, [](const Example& e) {
  std::map<int, int> counts;
  for (const int token : question(e)) ++counts[token];
  std::vector<std::pair<int, int>> by_count;
  for (const auto& [token, times] : counts) by_count.emplace_back(times, token);
  return Tokens{std::max_element(by_count.begin(), by_count.end())->second};
});

// Each mine adds 1 to the cells around it. With the default options, a 10 is between rows.
const RegisterOracle minesweeper("minesweeper", {"min_mines", "max_mines"}, [](const Example& e) {
  const Tokens board = question(e), cells = without(10, board);
  const int size = static_cast<int>(cells.size());
  const int columns = static_cast<int>(std::ranges::find(board, 10) - board.begin());
  Tokens answers(cells.size(), 0);
  for (int mine = 0; mine < size; ++mine) {
    for (int cell = 0; cell < size && cells[mine] == 9; ++cell) {
      const bool is_near =
          std::abs(cell / columns - mine / columns) <= 1 && std::abs(cell % columns - mine % columns) <= 1;
      answers[cell] += is_near;
    }
  }
  for (int mine = 0; mine < size; ++mine) {
    if (cells[mine] == 9) answers[mine] = 9;
  }
  return answers;
});

// With the default options the operands begin with their most significant digits, and the numbers of the answer
// with their least significant ones. A running sum is the product with the lowest digits of the second operand.
const RegisterOracle multiplication("multiplication", [](const Example& e) {
  const auto [a, b] = operands(14, question(e));
  const Tokens first = reversed(a), second = reversed(b);
  Tokens products, sums;
  for (size_t n = 0; n < second.size(); ++n) {
    const bool is_last = n + 1 == second.size();
    Tokens product = schoolbook::product(first, {second[n]}, 10);
    Tokens sum = schoolbook::product(
        first, Tokens(second.begin(), second.begin() + static_cast<std::ptrdiff_t>(n) + 1), 10);
    product.resize(first.size() + 1, 0);
    sum.resize(first.size() + second.size(), 0);
    product.push_back(is_last ? 12 : 11);
    sum.push_back(is_last ? 10 : 13);
    products = joined(products, product);
    sums = joined(sums, sum);
  }
  return joined(products, sums);
});

// Collects like terms, then uses Horner's scheme.
// The signs + - * are 0 to 2, and number n is 4 + n. Operands are pushed from the last token to the first. With a
// number above 4 the modulus is that of the released program, and else that of the task without options.
const RegisterOracle mano("mano", [](const Example& e) {
  const int modulus = std::ranges::max(question(e)) > 4 + 4 ? 23 : 5;
  Tokens operands;
  for (const int token : reversed(question(e))) {
    if (token > 3) {
      operands.push_back(token - 4);
      continue;
    }
    const int first = operands.back();
    operands.pop_back();
    const int second = token == 1 ? modulus - operands.back() : operands.back();
    operands.back() = (token == 2 ? first * second : first + second) % modulus;
  }
  return Tokens{4 + operands.at(0)};
});

const RegisterOracle polynomial("polynomial", [](const Example& e) {
  const auto number = [](int id) { return id < 10 ? id : 9 - id; };
  const Tokens tokens = question(e);
  int coefficients[4] = {}, value = 0;
  for (size_t t = 2; t < tokens.size(); t += 4) coefficients[tokens[t + 3]] += number(tokens[t + 1]);
  for (int exponent = 3; exponent >= 0; --exponent) {
    value = value * number(tokens[1]) + coefficients[exponent];
  }
  return Tokens{(value % 10 + 10) % 10};
});

const RegisterOracle repeat_copy("repeat_copy", [](const Example& e) { return joined(question(e), {2}); });

const RegisterOracle reverse("reverse", {"symbols"}, [](const Example& e) {
  return joined(reversed(question(e)), {e.tokens[e.scored.front()]});
});

const RegisterOracle sorting("sorting", {"symbols"}, [](const Example& e) {
  const int equals = e.tokens[e.scored.front()];
  Tokens sorted;
  for (int item = 0; item < equals; ++item) sorted.resize(sorted.size() + count(question(e), item), item);
  return joined(sorted, {equals});
});

const RegisterOracle summation("summation", [](const Example& e) {
  int sum = 0;
  for (int digit = 1; digit <= 9; ++digit) sum += digit * count(question(e), digit);
  return Tokens{sum % 10};
});

const RegisterOracle unique_copy("unique_copy", {"symbols"}, [](const Example& e) {
  return joined(question(e), {e.tokens[e.scored.front()]});
});

}  // namespace
}  // namespace posbench::length_generalization
