// Oracles of the tasks in tasks/selective_copying.
#include <cstddef>
#include <vector>

#include "harness/check/oracles.h"
#include "harness/check/oracles/token_lists.h"

namespace posbench::selective_copying {
namespace {

/// Returns the positions of the data of mad_selective_copying.
std::vector<int> data_positions(const Example& e) {
  const int blank = e.tokens.back(), marker = blank + 1;
  std::vector<int> positions;
  for (int t = 0; t < e.scored.front(); ++t) {
    if (e.tokens[t] != blank && e.tokens[t] != marker) positions.push_back(t);
  }
  return positions;
}

const RegisterOracle mad_copying(
    "mad_selective_copying", {"tokens"},
    [](const Example& e) {
      Tokens data = data_positions(e);
      for (int& token : data) token = e.tokens[token];
      return data;
    },
    [](const Example& e) {
      std::vector<int> distances = data_positions(e);
      for (size_t n = 0; n < distances.size(); ++n) distances[n] = e.scored[n] - distances[n];
      return distances;
    });

const RegisterOracle selective_copy("selective_copy", {"tokens"}, [](const Example& e) {
  const int separator = e.tokens[e.scored.front()], blank = separator - 1;
  return without(blank, question(e));
});

const RegisterOracle selective_copy_mamba("selective_copy_mamba", {"tokens"},
                                          [](const Example& e) { return without(0, question(e)); });

}  // namespace
}  // namespace posbench::selective_copying
