// Oracles of the tasks in tasks/planning.
#include <cstddef>
#include <map>
#include <vector>

#include "harness/check/oracles.h"
#include "harness/check/oracles/token_lists.h"

namespace posbench::planning {
namespace {

/// Returns the vertices of the path that ends with this one, from its end back to its start. The edges of a
/// question are two vertices each, with a bar between edges.
Tokens path_back_from(int vertex, const Tokens& edges) {
  std::map<int, int> before;
  for (size_t t = 0; t < edges.size(); t += 3) before[edges[t + 1]] = edges[t];
  Tokens path{vertex};
  while (before.contains(path.back())) path.push_back(before.at(path.back()));
  return path;
}

const RegisterOracle graph_reachability(
    "graph_reachability", {"paths", "vertices"},
    [](const Example& e) {
      const auto [edges, asked] = operands(e.tokens[e.scored.front()] - 1, question(e));
      return Tokens{count(path_back_from(asked[1], edges), asked[0])};
    },
    [](const Example& e) {
      const auto [edges, asked] = operands(e.tokens[e.scored.front()] - 1, question(e));
      const auto to_second = path_back_from(asked[1], edges).size(),
                 to_first = path_back_from(asked[0], edges).size();
      return std::vector<int>{static_cast<int>(to_second) - static_cast<int>(to_first)};
    });

const RegisterOracle path_star("path_star", {"nodes"}, [](const Example& e) {
  const auto [edges, query] = operands(e.tokens[e.scored.front()] - 1, question(e));
  return path_back_from(query[1], edges);
});

}  // namespace
}  // namespace posbench::planning
