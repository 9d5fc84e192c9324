// Oracles of the tasks in tasks/associative_recall.
#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>
#include <vector>

#include "base/random.h"
#include "harness/check/oracles.h"
#include "harness/check/oracles/token_lists.h"

namespace posbench::associative_recall {
namespace {

/// Returns for each scored key the distance back to the value that followed its last occurrence. Keys are at even
/// positions.
std::vector<int> distances_to_latest(const Example& e) {
  return for_each_scored(e, [&](int t) {
    int before = t - 2;
    while (e.tokens[before] != e.tokens[t]) before -= 2;
    return t - (before + 1);
  });
}

Tokens latest_values(const Example& e) {
  Tokens values = distances_to_latest(e);
  for (size_t n = 0; n < values.size(); ++n) values[n] = e.tokens[e.scored[n] - values[n]];
  return values;
}

const RegisterOracle compositional_mqar("compositional_mqar", {"vocabulary", "power"}, [](const Example& e) {
  Tokens values;
  for (const int t : e.scored) {
    const auto pair =
        std::search(e.tokens.begin(), e.tokens.end(), e.tokens.begin() + t - 1, e.tokens.begin() + t + 1);
    values.push_back(pair[2]);
  }
  return values;
});

const RegisterOracle forgetting_mqar("forgetting_mqar", {"vocabulary", "power"}, latest_values);

struct FuzzyPair {
  Tokens key, value;
  int value_position = 0;
};

/// Returns the pairs of fuzzy recall up to position `last`. A pair ends where a key follows a value.
std::vector<FuzzyPair> fuzzy_pairs(const Example& e, int last) {
  constexpr int kKeys = 7;
  std::vector<FuzzyPair> pairs{{}};
  for (int t = 0; t <= last; ++t) {
    const bool is_key = e.tokens[t] < kKeys;
    if (is_key && !pairs.back().value.empty()) pairs.emplace_back();
    (is_key ? pairs.back().key : pairs.back().value).push_back(e.tokens[t]);
    if (is_key) pairs.back().value_position = t + 1;
  }
  return pairs;
}

const RegisterOracle fuzzy_recall(
    "mad_fuzzy_in_context_recall", {"loss", "value"},
    [](const Example& e) {
      return for_each_scored(e, [&](int t) {
        const std::vector<FuzzyPair> pairs = fuzzy_pairs(e, t);
        const auto first = std::ranges::find(pairs, pairs.back().key, &FuzzyPair::key);
        return first->value.at(pairs.back().value.size());
      });
    },
    [](const Example& e) {
      return for_each_scored(e, [&](int t) {
        std::vector<FuzzyPair> pairs = fuzzy_pairs(e, t);
        const FuzzyPair last = pairs.back();
        pairs.pop_back();
        const auto before =
            std::find_if(pairs.rbegin(), pairs.rend(), [&](const auto& p) { return p.key == last.key; });
        return last.value_position - 1 - before->value_position;
      });
    });

const RegisterOracle mad_in_context_recall("mad_in_context_recall", {"vocabulary", "loss"}, latest_values,
                                           distances_to_latest);

// The answers are in the fixed mapping of 127 keys, not in the example.
const RegisterOracle mad_memorization("mad_memorization", [](const Example& e) {
  Tokens values(128);
  std::iota(values.begin(), values.end(), 127);
  Rng rng = make_rng(12345, "mad_memorization");
  shuffle(std::span(values), rng);
  Tokens answers;
  for (const int t : e.scored) answers.push_back(values.at(e.tokens[t - 1]));
  return answers;
});

const RegisterOracle noisy_recall("mad_noisy_in_context_recall", {"vocabulary", "noise_vocabulary", "loss"},
                                  latest_values, distances_to_latest);

const RegisterOracle mqar("mqar", {"vocabulary", "power", "filler"}, [](const Example& e) {
  Tokens values;
  for (const int t : e.scored) {
    values.push_back(*(std::find(e.tokens.begin(), e.tokens.end(), e.tokens[t]) + 1));
  }
  return values;
});

// The ids are space, pair, query, blank.
const RegisterOracle mqmtar("mqmtar", {"queries", "key", "value", "alphabet"}, [](const Example& e) {
  const auto [context, queries] = operands(2, question(e));
  Tokens values, key;
  for (const int token : joined(queries, {2})) {
    if (token != 2) {
      key.push_back(token);
      continue;
    }
    key.push_back(1);
    auto value = std::search(context.begin(), context.end(), key.begin(), key.end());
    value += static_cast<std::ptrdiff_t>(key.size());
    for (; *value != 0; ++value) values.push_back(*value);
    key.clear();
  }
  return values;
});

/// Returns for each scored key of mqrar the index of the queried value. The first scored key tells which one is
/// queried: it has as many values before. If only the last key is scored, as with the option far, its last value
/// is queried. Keys are at even positions.
std::vector<int> queried_values(const Example& e) {
  const auto places = [&e](int t) {
    std::vector<int> earlier;
    for (int before = t % 2; before < t; before += 2) {
      if (e.tokens[before] == e.tokens[t]) earlier.push_back(before + 1);
    }
    return earlier;
  };
  const bool is_far = e.scored.size() == 1 && e.scored[0] + 2 == static_cast<int>(e.tokens.size());
  const size_t which = is_far ? 1 : places(e.scored.front()).size();
  return for_each_scored(e, [&](int t) { return places(t).end()[-static_cast<std::ptrdiff_t>(which)]; });
}

const RegisterOracle mqrar("mqrar", {"vocabulary", "which"}, [](const Example& e) {
  Tokens values = queried_values(e);
  for (int& value : values) value = e.tokens[value];
  return values;
});

// The ids are 16 keys times 16 values, then keys, then values.
const RegisterOracle stacked_mqar(
    "stacked_mqar", {},
    [](const Example& e) {
      return for_each_scored(e, [&](int t) {
        const int key = e.tokens[t] - 256;
        return 272 + *std::ranges::find(e.tokens, key, [](int id) { return id / 16; }) % 16;
      });
    },
    [](const Example& e) {
      return for_each_scored(e, [&](int t) {
        int last = t - 1;
        while (e.tokens[last] / 16 != e.tokens[t] - 256) --last;
        return t - last;
      });
    });

}  // namespace
}  // namespace posbench::associative_recall
