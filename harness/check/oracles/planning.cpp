// Oracles of the tasks in tasks/planning.
#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
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

// Edges are added backwards from the asked vertex until none is new. Then the smallest vertex without an edge from
// an ancestor that is left comes next.
const RegisterOracle brevo("brevo", {"nodes"}, [](const Example& e) {
  const auto [edges, asked] = operands(e.tokens[e.scored.front()] - 1, question(e));
  std::set<int> ancestors{asked[0]};
  for (size_t known = 0; known < ancestors.size();) {
    known = ancestors.size();
    for (size_t t = 0; t < edges.size(); t += 3) {
      if (ancestors.contains(edges[t + 1])) ancestors.insert(edges[t]);
    }
  }
  Tokens order;
  while (!ancestors.empty()) {
    const auto next = std::ranges::find_if(ancestors, [&](int vertex) {
      for (size_t t = 0; t < edges.size(); t += 3) {
        if (edges[t + 1] == vertex && ancestors.contains(edges[t])) return false;
      }
      return true;
    });
    order.push_back(*next);
    ancestors.erase(next);
  }
  return order;
});

}  // namespace
}  // namespace posbench::planning
