// Oracles of the tasks in tasks/planning.
#include <cstddef>
#include <map>

#include "harness/check/oracles.h"
#include "harness/check/oracles/token_lists.h"

namespace posbench {
namespace {

const RegisterOracle path_star("path_star", {"nodes"}, [](const Example& e) {
  const int bar = e.tokens[e.scored.front()] - 2;
  const auto [edges, query] = operands(bar + 1, question(e));
  std::map<int, int> before;
  for (size_t t = 0; t < edges.size(); t += 3) before[edges[t + 1]] = edges[t];
  Tokens path{query[1]};
  while (path.back() != query[0]) path.push_back(before.at(path.back()));
  return reversed(path);
});

}  // namespace
}  // namespace posbench
