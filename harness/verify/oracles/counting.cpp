// Oracles of the tasks in tasks/counting.
#include <algorithm>
#include <cstddef>
#include <set>

#include "harness/verify/oracles.h"
#include "harness/verify/oracles/token_lists.h"

namespace posbench {
namespace {

const RegisterOracle common_words("common_words", {"common", "symbols"}, [](const Example& e) {
  const Tokens list = question(e);
  Tokens common;
  for (const int word : std::set<int>(list.begin(), list.end())) {
    if (count(list, word) > 1) common.push_back(word);
  }
  return common;
});

// The ids are the variables, then = ; ++; pass; print 0 1 2, and so on.
const RegisterOracle counting("counting", {"variables", "maximum", "set", "pass", "increment"},
                              [](const Example& e) {
                                const int queried = e.tokens.back(), variables = e.tokens.end()[-2] - 4;
                                const int equals = variables, increment = variables + 2, zero = variables + 5;
                                int increments = 0;
                                for (size_t t = e.tokens.size() - 3;
                                     e.tokens[t] != queried || e.tokens[t + 1] != equals; --t) {
                                  increments += e.tokens[t] == queried && e.tokens[t + 1] == increment;
                                }
                                return Tokens{zero + increments};
                              });

const RegisterOracle cumulative_majority("cumulative_majority", [](const Example& e) {
  Tokens answers;
  for (const int t : e.scored) {
    answers.push_back(2 * std::count(e.tokens.begin(), e.tokens.begin() + t + 1, 1) >= t + 1);
  }
  return answers;
});

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

const RegisterOracle ith_word("ith_word", {"farthest"}, [](const Example& e) {
  constexpr int kNoun = 8, kIndex = 24;
  const Tokens sentence = question(e);
  int left = sentence.back() - kIndex;  // nouns before the queried one
  size_t t = 0;
  for (; sentence[t] < kNoun || left > 0; ++t) left -= sentence[t] >= kNoun;
  return Tokens{sentence[t]};
});

// The ids are the 16 tokens, then counts.
const RegisterOracle local_count("local_count", [](const Example& e) {
  Tokens counts;
  for (const int t : e.scored) {
    int start = t;
    while (start > 0 && e.tokens[start - 1] == e.tokens[t]) --start;
    counts.push_back(16 + t - start);
  }
  return counts;
});

}  // namespace
}  // namespace posbench
