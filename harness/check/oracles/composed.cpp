// Oracles of the tasks in tasks/composed.
#include <algorithm>
#include <iterator>
#include <vector>

#include "harness/check/oracles.h"

namespace posbench::composed {
namespace {

/// Returns the index of the answer of `then` with its default tasks: steps 13 to 15 until 18 lead to one of five
/// positions, which number the keys from 1 on; the answer follows its key.
int answer_index(const Example& e) {
  const auto blank = std::ranges::find(e.tokens, 18);
  const auto steps = [&](int step) { return static_cast<int>(std::count(e.tokens.begin(), blank, step)); };
  const int position = (steps(15) + 4 * steps(13)) % 5;
  return static_cast<int>(std::distance(e.tokens.begin(), std::find(blank, e.tokens.end(), 1 + position))) + 1;
}

const RegisterOracle then(
    "then", {"train_on"}, [](const Example& e) { return Tokens{e.tokens[answer_index(e)]}; },
    [](const Example& e) { return std::vector<int>{e.scored.front() - answer_index(e)}; });

}  // namespace
}  // namespace posbench::composed
