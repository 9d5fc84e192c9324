// Oracles of the tasks in tasks/state_tracking.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "harness/check/oracles.h"
#include "harness/check/oracles/token_lists.h"

namespace posbench::state_tracking {
namespace {

/// Returns the permutations of `points` points in lexicographic order: all, or the even ones. An even permutation
/// has an even number of cycles of even length.
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

/// Returns the index of the observation at the previous visit of each scored position in a world of this size.
/// Returns an empty list if the scored positions do not fit such a world.
std::vector<int> visits_before(const Example& e, int size) {
  std::map<std::pair<int, int>, int> visited;
  std::pair<int, int> position{0, 0};
  std::vector<int> visits, scored;
  for (size_t t = 0; t < e.tokens.size(); t += 2) {
    int& coordinate = e.tokens[t] < 2 ? position.first : position.second;
    coordinate = (coordinate + (e.tokens[t] % 2 == 0 ? 1 : size - 1)) % size;
    if (visited.contains(position)) {
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
    "navigation_2d", {"walk", "objects", "size=16"},
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

// With form=recurrent and sums of four, consecutive sums differ by their ends. The farthest token is four
// positions before the answer.
const RegisterOracle posgen(
    "posgen", {},
    [](const Example& e) {
      return for_each_scored(e, [&](int t) {
        const int next = t < 4 ? std::accumulate(e.tokens.begin(), e.tokens.begin() + 4, 0)
                               : 2 * e.tokens[t] - e.tokens[t - 4] + 5;
        return next % 5;
      });
    },
    [](const Example& e) { return std::vector<int>(e.scored.size(), 4); });

/// Returns the lengths of the runs of equal symbols of a question.
std::vector<int> runs(const Example& e) {
  std::vector<int> lengths;
  for (int t = 0; t < e.scored.front(); ++t) {
    if (t > 0 && e.tokens[t] == e.tokens[t - 1]) {
      ++lengths.back();
    } else {
      lengths.push_back(1);
    }
  }
  return lengths;
}

// By default, no symbol is three times in a row. Each three equal symbols need an edit, and a run has a third of
// its length of them, rounded down.
const RegisterOracle recognition(
    "recognition", {}, [](const Example& e) { return Tokens{std::ranges::max(runs(e)) < 3 ? 1 : 0}; },
    [](const Example& e) {
      int edits = 0;
      for (const int length : runs(e)) edits += length / 3;
      return std::vector<int>{edits};
    });

/// Returns the number of symbols at the end of the word that are `symbol`.
int trailing(const std::string& word, char symbol) {
  const size_t other = word.find_last_not_of(symbol);
  return static_cast<int>(other == std::string::npos ? word.size() : word.size() - 1 - other);
}

int occurrences(const std::string& word, char symbol) {
  return static_cast<int>(std::ranges::count(word, symbol));
}

/// Returns true if an odd run of ones and an odd run of zeros end the word.
bool ends_in_odd_runs(const std::string& word) {
  const int zeros = trailing(word, '0');
  return zeros % 2 == 1 && trailing(word.substr(0, word.size() - zeros), '1') % 2 == 1;
}

/// Returns the index of the set of symbols that may follow the nonempty prefix of a word, by a property of the
/// prefix instead of an automaton. The languages have their order in the vocabulary.
int set_after(int language, const std::string& prefix) {
  const int a = occurrences(prefix, 'a'), length = static_cast<int>(prefix.size());
  switch (language) {
    case 0:  // 1*
      return 0;
    case 1:  // (10)*
      return prefix.back() == '1' ? 1 : 0;
    case 2:
      return ends_in_odd_runs(prefix) ? 1 : 0;
    case 3:  // no three zeros in a row
      return trailing(prefix, '0') == 2 ? 1 : 0;
    case 4:  // even numbers of zeros and of ones
      return length % 2 == 0 && occurrences(prefix, '0') % 2 == 0 ? 0 : 1;
    case 5:  // the numbers of zeros and of ones differ by a multiple of 3
      return (length + occurrences(prefix, '0')) % 3 == 0 ? 0 : 1;
    case 6:  // 0*1*0*1*
      return prefix.find("10") != std::string::npos && prefix.find('1', prefix.find("10") + 1) != std::string::npos
                 ? 1
                 : 0;
    case 7:  // (aa)*
      return length % 2 == 0 ? 0 : 1;
    case 8:  // (aaaa)*
      return length % 4 == 0 ? 0 : 1;
    case 9:  // (abab)*
      return length % 4 == 0 ? 0 : prefix.back() == 'a' ? 1 : 2;
    case 14:  // aa*bb*cc*dd*ee*
      return prefix.back() - 'a';
    case 15:  // {a,b}*d{b,c}*
      return occurrences(prefix, 'd');
    case 16: {  // {0,1,2}*02*
      const size_t last = prefix.find_last_of("01");
      return last != std::string::npos && prefix[last] == '0' ? 1 : 0;
    }
    default: {  // at most 2, 3, 4 or 12 more a than b
      constexpr std::array<int, 4> kDepths{2, 3, 4, 12};
      const int open = 2 * a - length;
      return open == 0 ? 0 : open == kDepths.at(language - 10) ? 2 : 1;
    }
  }
}

// The ids are 5 sets, 8 symbols and a begin token for each language.
const RegisterOracle regular("regular", {"language"}, [](const Example& e) {
  std::string prefix;
  return for_each_scored(e, [&](int t) {
    prefix += "012abcde"[e.tokens[t] - 5];
    return set_after(e.tokens.front() - 13, prefix);
  });
});

/// Returns the sum of the updates of the key that a tracking_recall question ends with, back to the last that set
/// its state, and their number. Token 5 + n sets the state n, and 10 + n adds n.
std::pair<int, int> updates_of_key(const Example& e) {
  const Tokens updates = question(e);
  int sum = 0, number = 0;
  for (size_t t = updates.size() - 1; t > 0;) {
    t -= 2;
    if (updates[t] != updates.back()) continue;
    sum += updates[t + 1];
    ++number;
    if (updates[t + 1] < 10) break;
  }
  return {sum % 5, number};
}

const RegisterOracle tracking_recall(
    "tracking_recall", {"names"}, [](const Example& e) { return Tokens{updates_of_key(e).first}; },
    [](const Example& e) { return std::vector<int>{updates_of_key(e).second}; });

}  // namespace
}  // namespace posbench::state_tracking
