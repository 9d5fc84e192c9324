// Oracles of the tasks in tasks/associative_recall.
#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "base/random.h"
#include "harness/verify/oracles.h"
#include "harness/verify/oracles/token_lists.h"

namespace posbench {
namespace {

/// Returns for each scored key the value that followed its last occurrence. Keys are at even positions.
Tokens latest_values(const Example& e) {
  Tokens values;
  for (const int t : e.scored) {
    int before = t - 2;
    while (e.tokens[before] != e.tokens[t]) before -= 2;
    values.push_back(e.tokens[before + 1]);
  }
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

const RegisterOracle fuzzy_recall("mad_fuzzy_in_context_recall", {"loss"}, [](const Example& e) {
  constexpr int kKeys = 7;
  Tokens answers;
  std::vector<std::pair<Tokens, Tokens>> pairs{{}};  // the tokens so far, split where a key follows a value
  for (int t = 0; t <= e.scored.back(); ++t) {
    const bool is_key = e.tokens[t] < kKeys;
    if (is_key && !pairs.back().second.empty()) pairs.emplace_back();
    (is_key ? pairs.back().first : pairs.back().second).push_back(e.tokens[t]);
    if (e.scored[answers.size()] != t) continue;
    const auto& [key, value] = pairs.back();
    const auto same_key = [key = key](const auto& pair) { return pair.first == key; };
    answers.push_back(std::find_if(pairs.begin(), pairs.end(), same_key)->second.at(value.size()));
  }
  return answers;
});

const RegisterOracle mad_in_context_recall("mad_in_context_recall", {"vocabulary", "loss"}, latest_values);

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
                                  latest_values);

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

// The ids are 16 keys times 16 values, then keys, then values.
const RegisterOracle stacked_mqar("stacked_mqar", [](const Example& e) {
  Tokens values;
  for (const int t : e.scored) {
    const int key = e.tokens[t] - 256;
    const auto pair = std::find_if(e.tokens.begin(), e.tokens.end(), [&](int id) { return id / 16 == key; });
    values.push_back(272 + *pair % 16);
  }
  return values;
});

}  // namespace
}  // namespace posbench
