// Oracles of the tasks in tasks/induction.
#include <algorithm>
#include <cstddef>

#include "harness/verify/oracles.h"

namespace posbench {
namespace {

const RegisterOracle induction_heads("induction_heads", {"vocabulary"}, [](const Example& e) {
  const auto first_trigger = std::find(e.tokens.begin(), e.tokens.end(), e.tokens.back());
  return Tokens{first_trigger[1]};
});

const RegisterOracle induction_repeat("induction_repeat", {"vocabulary", "loss"}, [](const Example& e) {
  const size_t block = (e.tokens.size() + 1) / 2;
  return Tokens(e.tokens.begin() + 1, e.tokens.begin() + block);
});

// Follows the paper's definition, with ~ = 4.
const RegisterOracle k_hop("k_hop", {"hops"}, [](const Example& e) {
  constexpr int kNothing = 4;
  const auto find = [&](int i) {
    int j = i;
    while (j > 1 && e.tokens[j - 1] != e.tokens[i]) --j;
    return j > 1 ? j : 0;
  };
  Tokens answers;
  for (int i : e.scored) {
    for (int hop = e.tokens[0] - kNothing; hop > 0 && i > 0; --hop) i = find(i);
    answers.push_back(i == 0 ? kNothing : e.tokens[i]);
  }
  return answers;
});

}  // namespace
}  // namespace posbench
