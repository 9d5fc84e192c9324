// Oracles of the tasks in tasks/retrieval.
#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "harness/check/oracles.h"
#include "harness/check/oracles/token_lists.h"

namespace posbench::retrieval {
namespace {

/// Returns the item that an index_retrieval question gives or asks for, and its index from the anchor.
std::pair<int, int> item_and_index(const Example& e) {
  constexpr int kLetters = 52;
  Tokens items = question(e);
  const int given = items.back(), anchor = items.end()[-2], end = e.tokens[e.scored.front()] - 1;
  items.resize(items.size() - 2);
  if (anchor == end) items = reversed(items);
  if (given >= kLetters) return {items.at(given - kLetters), given - kLetters};
  return {given, static_cast<int>(std::find(items.begin(), items.end(), given) - items.begin())};
}

const RegisterOracle index_retrieval(
    "index_retrieval", {"farthest", "query", "from"},
    [](const Example& e) {
      const auto [item, index] = item_and_index(e);
      return Tokens{question(e).back() == item ? 52 + index : item};
    },
    [](const Example& e) { return std::vector<int>{item_and_index(e).second + 1}; });

/// Returns the digits at the end of an indirect_indexing question as a number. The ids are letters, ten digits,
/// comma, plus, minus.
int shift_of(const Example& e) {
  const Tokens rest = operands(62, question(e)).second;
  int shift = 0;
  for (size_t t = 3; t < rest.size(); ++t) shift = 10 * shift + rest[t] - 52;
  return shift;
}

const RegisterOracle indirect_indexing(
    "indirect_indexing", {},
    [](const Example& e) {
      const auto [string, rest] = operands(62, question(e));
      const auto source = std::find(string.begin(), string.end(), rest[0]);
      return Tokens{source[rest[2] == 64 ? -shift_of(e) : shift_of(e)]};
    },
    [](const Example& e) { return std::vector<int>{shift_of(e)}; });

// The ids are bar, step, equals sign, then pieces of names; an even id ends a name.
const RegisterOracle depo("depo", {"steps", "pieces", "symbols"}, [](const Example& e) {
  std::map<Tokens, Tokens> successor;
  auto [pair, rest] = operands(0, question(e));
  for (; !rest.empty(); std::tie(pair, rest) = operands(0, rest)) {
    const auto second = std::ranges::find_if(pair, [](int piece) { return piece % 2 == 0; }) + 1;
    successor[{pair.begin(), second}] = {second, pair.end()};
  }
  Tokens name = without(1, pair);
  for (int step = count(pair, 1); step > 0; --step) name = successor[name];
  return name;
});

/// Returns the index of the last marker 1 of a last_x_retrieval question. Items are a marker and a payload.
int last_marker(const Example& e) {
  int t = e.scored.front() - 2;
  while (e.tokens[t] != 1) t -= 2;
  return t;
}

const RegisterOracle last_x_retrieval(
    "last_x_retrieval", {"rho", "payloads"}, [](const Example& e) { return Tokens{e.tokens[last_marker(e) + 1]}; },
    [](const Example& e) { return std::vector<int>{(e.scored.front() - last_marker(e)) / 2 - 1}; });

// The ids are colon, stop, question mark, equals sign, then numbers from 1, keys and words.
const RegisterOracle mrcr("mrcr", {"copies", "words", "which", "keys", "symbols"}, [](const Example& e) {
  Tokens text = question(e);
  const Tokens start{text.end()[-2], 0};
  auto item = text.begin();
  for (int left = text.back() - 3; left > 0; --left) {
    item = std::search(item, text.end(), start.begin(), start.end()) + 2;
  }
  return Tokens(item, std::find(item, text.end(), 1));
});

const RegisterOracle n_back("n_back", {"symbols"}, [](const Example& e) {
  Tokens answers(e.tokens.begin(), e.tokens.end() - 2);
  return answers;
});

/// Returns the index of the first token after the first occurrence of the key, which is at the end of the
/// question.
int after_key(const Example& e) {
  const auto [string, key] = operands(e.tokens[e.scored.front()] - 1, question(e));
  const auto found = std::search(string.begin(), string.end(), key.begin(), key.end());
  return static_cast<int>(found - string.begin() + std::ssize(key));
}

/// Returns the positions in the haystack of the values that a needle question asks for, without the stop after
/// each. The ids are ten digits, colon, stop, question mark, equals sign, then keys and words.
std::vector<std::pair<int, int>> queried_needles(const Example& e) {
  const auto [haystack, queried] = operands(12, question(e));
  std::vector<std::pair<int, int>> values;  // from, to
  for (const int key : queried) {
    for (size_t t = 0; t + 1 < haystack.size(); ++t) {
      if (haystack[t] != key || haystack[t + 1] != 10) continue;
      const auto stop = std::find(haystack.begin() + static_cast<std::ptrdiff_t>(t), haystack.end(), 11);
      values.emplace_back(t + 2, stop - haystack.begin());
    }
  }
  return values;
}

const RegisterOracle needle(
    "needle", {"values", "queries", "digits", "names", "words", "haystack"},
    [](const Example& e) {
      Tokens digits;
      for (const auto& [from, to] : queried_needles(e)) {
        digits.insert(digits.end(), e.tokens.begin() + from, e.tokens.begin() + to);
      }
      return digits;
    },
    [](const Example& e) {
      const auto end = std::ssize(operands(12, question(e)).first);
      std::vector<int> tenths;
      for (const auto& [from, to] : queried_needles(e)) {
        tenths.insert(tenths.end(), to - from, static_cast<int>(10 * (end - from + 1) / end));
      }
      return tenths;
    });

const RegisterOracle ngram_lookup(
    "ngram_lookup", {"key", "answer", "symbols"},
    [](const Example& e) {
      const auto answer = e.tokens.begin() + after_key(e);
      return Tokens(answer, answer + std::ssize(e.scored));
    },
    [](const Example& e) { return std::vector<int>(e.scored.size(), e.scored.front() - after_key(e)); });

/// Returns the positions of the element that both sets of a set_disjointness question have, or twice the last
/// position.
std::pair<int, int> common_element(const Example& e) {
  const Tokens sets = question(e);
  for (int one = 0; one < std::ssize(sets); ++one) {
    for (int other = one + 1; other < std::ssize(sets); ++other) {
      if (sets[one] == sets[other]) return {one, other};
    }
  }
  return {sets.size() - 1, sets.size() - 1};
}

const RegisterOracle set_disjointness(
    "set_disjointness", {"short", "elements", "first"},
    [](const Example& e) { return Tokens{e.tokens[common_element(e).first]}; },
    [](const Example& e) { return std::vector<int>{e.scored.front() - common_element(e).second}; });

const RegisterOracle variable_tracking("variable_tracking", [](const Example& e) {
  const Tokens text = question(e);
  std::set<int> reached{text.back()};
  Tokens variables;
  for (size_t t = 1; t + 2 < text.size(); ++t) {
    if (text[t] != 36 || !reached.contains(text[t + 1])) continue;
    reached.insert(text[t - 1]);
    variables.push_back(text[t - 1]);
  }
  return variables;
});

}  // namespace
}  // namespace posbench::retrieval
