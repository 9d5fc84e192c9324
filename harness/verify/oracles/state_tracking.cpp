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

/// Returns the index of the observation at the previous visit of each scored position in a world of this size. Returns an empty
/// list if the scored positions do not fit such a world.
std::vector<int> visits_before(const Example& e, int size) {
  std::map<std::pair<int, int>, int> visited;
  std::pair<int, int> position{0, 0};
  std::vector<int> visits, scored;
  for (size_t t = 0; t < e.tokens.size(); t += 2) {
    int& coordinate = e.tokens[t] < 2 ? position.first : position.second;
    coordinate = (coordinate + (e.tokens[t] % 2 == 0 ? 1 : size - 1)) % size;
    if (visited.count(position) > 0) {
      scored.push_back(static_cast<int>(t));
      visits.push_back(visited[position]);
    }
    visited[position] = static_cast<int>(t) + 1;
  }
  return scored == e.scored ? visits : std::vector<int>{};
}

/// Tries the larger world first: if both fit, it is no less informative.
std::vector<int> visits_before(const Example& e) {
  const std::vector<int> visits = visits_before(e, 16);
  return visits.empty() ? visits_before(e, 8) : visits;
}

std::vector<int> scored_positions(const Example& e) { return e.scored; }

const RegisterOracle cumulative_parity(
    "cumulative_parity", {},
    [](const Example& e) {
      return for_each_scored(e, [&](int t) {
        return static_cast<int>(std::count(e.tokens.begin(), e.tokens.begin() + t + 1, 1) % 2);
      });
    },
    scored_positions);

/// Returns the indices of the last write instruction before each scored position of flip_flop.
std::vector<int> last_writes(const Example& e) {
  return for_each_scored(e, [&](int t) {
    while (e.tokens[t] != 0) t -= 2;
    return t;
  });
}

const RegisterOracle flip_flop(
    "flip_flop", {"loss"},
    [](const Example& e) {
      Tokens bits = last_writes(e);
      for (int& bit : bits) bit = e.tokens[bit + 1];
      return bits;
    },
    [](const Example& e) {
      std::vector<int> distances = last_writes(e);
      for (size_t n = 0; n < distances.size(); ++n) distances[n] = (e.scored[n] - distances[n]) / 2;
      return distances;
    });

/// Follows each point through the permutations of a5 and of s3 to s5.
Tokens products_of_permutations(const Example& e) {
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
}

const RegisterOracle group_word("group_word", {}, products_of_permutations, scored_positions);

const RegisterOracle navigation_2d(
    "navigation_2d", {"walk", "objects"},
    [](const Example& e) {
      Tokens seen = visits_before(e);
      for (int& object : seen) object = e.tokens[object];
      return seen;
    },
    [](const Example& e) {
      std::vector<int> distances = visits_before(e);
      for (size_t n = 0; n < distances.size(); ++n) distances[n] = (e.scored[n] + 1 - distances[n]) / 2;
      return distances;
    });

// With form=recurrent and sums of four, consecutive sums differ by their ends. The farthest token is four positions before the answer.
const RegisterOracle posgen(
    "posgen", {},
    [](const Example& e) {
      return for_each_scored(e, [&](int t) {
        const int next = t < 4 ? std::accumulate(e.tokens.begin(), e.tokens.begin() + 4, 0)
                               : 2 * e.tokens[t] - e.tokens[t - 4] + 17;
        return next % 17;
      });
    },
    [](const Example& e) { return std::vector<int>(e.scored.size(), 4); });

}  // namespace
}  // namespace posbench
