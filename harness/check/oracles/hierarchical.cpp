// Oracles of the tasks in tasks/hierarchical.
#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

#include "harness/check/oracles.h"
#include "harness/check/oracles/token_lists.h"

namespace posbench::hierarchical {
namespace {

/// Returns the value of ListOps tokens by a stack of lists. The ids are digits, then operations, then the closing
/// bracket.
int evaluate_lists(const Tokens& tokens) {
  std::vector<Tokens> lists{{}};  // the operation, then its arguments; the first list is the whole
  for (const int token : tokens) {
    if (token < 10) {
      lists.back().push_back(token);
    } else if (token < 14) {
      lists.push_back({token});
    } else {
      const int operation = lists.back().front();
      Tokens list(lists.back().begin() + 1, lists.back().end());
      lists.pop_back();
      std::sort(list.begin(), list.end());
      const size_t n = list.size();
      lists.back().push_back(operation == 10   ? list[0]
                             : operation == 11 ? list[n - 1]
                             : operation == 12 ? (list[(n - 1) / 2] + list[n / 2]) / 2
                                               : std::accumulate(list.begin(), list.end(), 0) % 10);
    }
  }
  return lists.front().at(0);
}

constexpr int kBracketTypes = 8;

/// Returns the position of the nearest opening bracket that is not closed up to t.
int innermost_open(const Example& e, int t) {
  for (int closed = 0; e.tokens[t] >= kBracketTypes || closed > 0; --t)
    closed += e.tokens[t] >= kBracketTypes ? 1 : -1;
  return t;
}

const RegisterOracle dyck(
    "dyck", {"loss"},
    [](const Example& e) {
      return for_each_scored(e, [&](int t) { return kBracketTypes + e.tokens[innermost_open(e, t)]; });
    },
    [](const Example& e) { return for_each_scored(e, [&](int t) { return t - innermost_open(e, t); }); });

const RegisterOracle listops("listops", {"depth"},
                             [](const Example& e) { return Tokens{evaluate_lists(question(e))}; });

}  // namespace
}  // namespace posbench::hierarchical
