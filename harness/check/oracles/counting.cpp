// Oracles of the tasks in tasks/counting.
#include <algorithm>
#include <cstddef>
#include <set>
#include <vector>

#include "harness/check/oracles.h"
#include "harness/check/oracles/token_lists.h"

namespace posbench::counting {
namespace {

const RegisterOracle common_words("common_words", {"common", "symbols"}, [](const Example& e) {
  const Tokens list = question(e);
  Tokens common;
  for (const int word : std::set<int>(list.begin(), list.end())) {
    if (count(list, word) > 1) common.push_back(word);
  }
  return common;
});

/// Returns the index of the last statement of a `counting` program that sets the queried variable. The ids are the
/// variables, then = ; ++; pass; print 0 1 2, and so on.
int last_reset(const Example& e) {
  const int queried = e.tokens.back(), equals = e.tokens.end()[-2] - 4;
  int t = static_cast<int>(e.tokens.size()) - 3;
  while (e.tokens[t] != queried || e.tokens[t + 1] != equals) --t;
  return t;
}

const RegisterOracle counting(
    "counting", {"variables", "maximum", "set", "pass", "increment"},
    [](const Example& e) {
      const int queried = e.tokens.back(), variables = e.tokens.end()[-2] - 4;
      const int increment = variables + 2, zero = variables + 5;
      int increments = 0;
      for (size_t t = last_reset(e); t + 3 <= e.tokens.size(); ++t)
        increments += e.tokens[t] == queried && e.tokens[t + 1] == increment;
      return Tokens{zero + increments};
    },
    [](const Example& e) { return std::vector<int>{e.scored.front() - last_reset(e)}; });

const RegisterOracle cumulative_majority(
    "cumulative_majority", {},
    [](const Example& e) {
      return for_each_scored(
          e, [&](int t) -> int { return 2 * std::count(e.tokens.begin(), e.tokens.begin() + t + 1, 1) >= t + 1; });
    },
    [](const Example& e) { return for_each_scored(e, [](int t) { return t + 1; }); });

const RegisterOracle frequent_words("frequent_words", {"symbols"}, [](const Example& e) {
  const Tokens text = without(e.tokens[e.scored.front()] - 1, question(e));
  Tokens answer;
  for (int times = static_cast<int>(text.size()); answer.size() < e.scored.size(); --times) {
    for (const int word : std::set<int>(text.begin(), text.end())) {
      if (count(text, word) == times) answer.push_back(word);
    }
  }
  return answer;
});

/// Returns the index of the queried noun of an ith_word question.
int queried_noun(const Example& e) {
  constexpr int kNoun = 8, kIndex = 24;
  int left = e.tokens[e.scored.front() - 1] - kIndex;  // nouns before the queried one
  int t = 0;
  for (; e.tokens[t] < kNoun || left > 0; ++t) left -= e.tokens[t] >= kNoun;
  return t;
}

const RegisterOracle ith_word(
    "ith_word", {"farthest"}, [](const Example& e) { return Tokens{e.tokens[queried_noun(e)]}; },
    [](const Example& e) { return std::vector<int>{e.scored.front() - 1 - queried_noun(e)}; });

/// Returns the numbers of tokens from each scored position back to the start of its run.
std::vector<int> run_lengths(const Example& e) {
  return for_each_scored(e, [&](int t) {
    int start = t;
    while (start > 0 && e.tokens[start - 1] == e.tokens[t]) --start;
    return t - start;
  });
}

// The ids are the 16 tokens, then counts.
const RegisterOracle local_count(
    "local_count", {},
    [](const Example& e) {
      Tokens counts = run_lengths(e);
      for (int& count : counts) count += 16;
      return counts;
    },
    run_lengths);

}  // namespace
}  // namespace posbench::counting
