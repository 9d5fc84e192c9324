// Oracles of the tasks in tasks/state_tracking.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "harness/verify/oracles.h"
#include "harness/verify/oracles/token_lists.h"

namespace posbench {
namespace {

/// Returns the permutations of `points` points in lexicographic order: all, or the even ones. An even permutation has an even
/// number of cycles of even length.
std::vector<Tokens> permutations_of(int points, bool even_only) {
  std::vector<Tokens> result;
  const int units = static_cast<int>(std::lround(std::pow(10, points - 1)));
  for (int code = 0; code < 10 * units; ++code) {
    Tokens p;
    for (int unit = units; unit > 0; unit /= 10) p.push_back(code / unit % 10);
    if (*std::max_element(p.begin(), p.end()) >= points) continue;
    if (static_cast<int>(std::set<int>(p.begin(), p.end()).size()) < points) continue;
    int even_cycles = 0;
    std::set<int> seen;
    for (int start = 0; start < points; ++start) {
      int length = 0;
      for (int i = start; seen.insert(i).second; i = p[i]) ++length;
      even_cycles += length > 0 && length % 2 == 0;
    }
    if (!even_only || even_cycles % 2 == 0) result.push_back(p);
  }
  return result;
}

/// Returns the object seen at the previous visit of each scored position in a world of this size. Returns an empty list if the
/// scored positions do not fit such a world.
Tokens seen_before(const Example& e, int size) {
  std::map<std::pair<int, int>, int> shown;
  std::pair<int, int> position{0, 0};
  Tokens answers, scored;
  for (size_t t = 0; t < e.tokens.size(); t += 2) {
    int& coordinate = e.tokens[t] < 2 ? position.first : position.second;
    coordinate = (coordinate + (e.tokens[t] % 2 == 0 ? 1 : size - 1)) % size;
    if (shown.count(position) > 0) {
      scored.push_back(static_cast<int>(t));
      answers.push_back(shown[position]);
    }
    shown[position] = t + 1 < e.tokens.size() ? e.tokens[t + 1] : 0;
  }
  return scored == e.scored ? answers : Tokens{};
}

const RegisterOracle cumulative_parity("cumulative_parity", [](const Example& e) {
  Tokens answers;
  for (const int t : e.scored) {
    answers.push_back(static_cast<int>(std::count(e.tokens.begin(), e.tokens.begin() + t + 1, 1) % 2));
  }
  return answers;
});

const RegisterOracle flip_flop("flip_flop", {"loss"}, [](const Example& e) {
  Tokens bits;
  for (const int t : e.scored) {
    int write = t;
    while (e.tokens[write] != 0) write -= 2;
    bits.push_back(e.tokens[write + 1]);
  }
  return bits;
});

// Follows each point through the permutations of a5 and of s3 to s5.
const RegisterOracle group_word("group_word", [](const Example& e) {
  static const std::map<int, std::vector<Tokens>> groups{{60, permutations_of(5, true)},
                                                         {6, permutations_of(3, false)},
                                                         {24, permutations_of(4, false)},
                                                         {120, permutations_of(5, false)}};
  const std::vector<Tokens>& elements = groups.at(e.tokens.front());
  Tokens products, where = elements.front();
  for (size_t t = 1; t < e.tokens.size(); ++t) {
    for (int& point : where) point = elements.at(e.tokens[t])[point];
    const auto product = std::find(elements.begin(), elements.end(), where);
    products.push_back(static_cast<int>(product - elements.begin()));
  }
  return products;
});

// The larger world is tried first: if both fit, it is no less informative.
const RegisterOracle navigation_2d("navigation_2d", {"walk", "objects"}, [](const Example& e) {
  const Tokens answers = seen_before(e, 16);
  return answers.empty() ? seen_before(e, 8) : answers;
});

// With form=recurrent and sums of four, consecutive sums differ by their ends.
const RegisterOracle posgen("posgen", [](const Example& e) {
  Tokens answers;
  for (const int t : e.scored) {
    const int next = t < 4 ? std::accumulate(e.tokens.begin(), e.tokens.begin() + 4, 0)
                           : 2 * e.tokens[t] - e.tokens[t - 4] + 17;
    answers.push_back(next % 17);
  }
  return answers;
});

}  // namespace
}  // namespace posbench
