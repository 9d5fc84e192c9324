// Declares operations on lists of tokens that several oracles share.
#pragma once
#include <algorithm>
#include <utility>
#include <vector>

#include "harness/check/oracles.h"

namespace posbench {

/// Returns the tokens before the first scored position: the question of a task with one answer.
inline Tokens question(const Example& e) { return {e.tokens.begin(), e.tokens.begin() + e.scored.front()}; }

inline int count(const Tokens& tokens, int token) { return static_cast<int>(std::ranges::count(tokens, token)); }

inline Tokens without(int token, Tokens tokens) {
  std::erase(tokens, token);
  return tokens;
}

inline Tokens reversed(const Tokens& tokens) { return {tokens.rbegin(), tokens.rend()}; }

inline Tokens joined(Tokens a, const Tokens& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// Returns the value of f for each scored position.
template <class F>
std::vector<int> for_each_scored(const Example& e, F f) {
  std::vector<int> values;
  for (const int t : e.scored) values.push_back(f(t));
  return values;
}

/// Returns the numbers before and after the first `sign`. The second is empty if no sign occurs.
inline std::pair<Tokens, Tokens> operands(int sign, const Tokens& tokens) {
  const auto found = std::ranges::find(tokens, sign);
  if (found == tokens.end()) return {tokens, {}};
  return {Tokens(tokens.begin(), found), Tokens(found + 1, tokens.end())};
}

}  // namespace posbench
