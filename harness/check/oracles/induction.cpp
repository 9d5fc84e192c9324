// Oracles of the tasks in tasks/induction.
#include <algorithm>
#include <cstddef>

#include "harness/check/oracles.h"
#include "harness/check/oracles/token_lists.h"

namespace posbench::induction {
namespace {

const RegisterOracle induction_heads("induction_heads", {"vocabulary"}, [](const Example& e) {
  const auto first_trigger = std::find(e.tokens.begin(), e.tokens.end(), e.tokens.back());
  return Tokens{first_trigger[1]};
});

const RegisterOracle induction_repeat("induction_repeat", {"vocabulary", "loss"}, [](const Example& e) {
  const size_t block = (e.tokens.size() + 1) / 2;
  return Tokens(e.tokens.begin() + 1, e.tokens.begin() + block);
});

constexpr int kNothing = 4;

/// Follows the hops from position i by the paper's definition. Returns 0 if one of them leads nowhere.
int end_of_hops(const Example& e, int i) {
  for (int hop = e.tokens[0] - kNothing; hop > 0 && i > 0; --hop) {
    const int token = e.tokens[i];
    while (i > 1 && e.tokens[i - 1] != token) --i;
    if (i == 1) i = 0;
  }
  return i;
}

const RegisterOracle k_hop(
    "k_hop", {"hops"},
    [](const Example& e) {
      return for_each_scored(e, [&](int t) {
        const int end = end_of_hops(e, t);
        return end == 0 ? kNothing : e.tokens[end];
      });
    },
    [](const Example& e) {
      return for_each_scored(e, [&](int t) {
        const int end = end_of_hops(e, t);
        return end == 0 ? 0 : t - end;
      });
    });

// The separator of strings is 0. The last two symbols are compared with all pairs of earlier strings. Answers that
// differ give -1.
const RegisterOracle random_automaton("random_automaton", {"edges", "vocabulary", "loss"}, [](const Example& e) {
  return for_each_scored(e, [&](int t) {
    int begin = t;
    while (begin > 0 && e.tokens[begin - 1] != 0) --begin;
    const Tokens last{e.tokens[t - 1], e.tokens[t]}, earlier(e.tokens.begin(), e.tokens.begin() + begin);
    Tokens after;
    auto found = std::search(earlier.begin(), earlier.end(), last.begin(), last.end());
    for (; found != earlier.end(); found = std::search(found + 1, earlier.end(), last.begin(), last.end())) {
      if (found[2] != 0) after.push_back(found[2]);
    }
    return count(after, after.at(0)) == static_cast<int>(after.size()) ? after[0] : -1;
  });
});

}  // namespace
}  // namespace posbench::induction
