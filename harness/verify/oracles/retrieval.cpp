// Oracles of the tasks in tasks/retrieval.
#include <algorithm>
#include <cstddef>
#include <set>

#include "harness/verify/oracles.h"
#include "harness/verify/oracles/token_lists.h"

namespace posbench {
namespace {

const RegisterOracle index_retrieval("index_retrieval", {"farthest", "query"}, [](const Example& e) {
  constexpr int kLetters = 52;
  Tokens items = question(e);
  const int given = items.back(), anchor = items.end()[-2], end = e.tokens[e.scored.front()] - 1;
  items.resize(items.size() - 2);
  if (anchor == end) items = reversed(items);
  if (given >= kLetters) return Tokens{items.at(given - kLetters)};
  return Tokens{kLetters + static_cast<int>(std::find(items.begin(), items.end(), given) - items.begin())};
});

// The ids are letters, ten digits, comma, plus, minus.
const RegisterOracle indirect_indexing("indirect_indexing", [](const Example& e) {
  const auto [string, rest] = operands(62, question(e));
  int shift = 0;
  for (size_t t = 3; t < rest.size(); ++t) shift = 10 * shift + rest[t] - 52;
  const auto source = std::find(string.begin(), string.end(), rest[0]);
  return Tokens{source[rest[2] == 64 ? -shift : shift]};
});

const RegisterOracle last_x_retrieval("last_x_retrieval", {"rho", "payloads"}, [](const Example& e) {
  const Tokens items = question(e);
  for (size_t i = items.size(); i >= 2; i -= 2) {
    if (items[i - 2] == 1) return Tokens{items[i - 1]};
  }
  return Tokens{};
});

const RegisterOracle n_back("n_back", {"symbols"}, [](const Example& e) {
  Tokens answers(e.tokens.begin(), e.tokens.end() - 2);
  return answers;
});

const RegisterOracle ngram_lookup("ngram_lookup", {"key", "answer", "symbols"}, [](const Example& e) {
  const auto [string, key] = operands(e.tokens[e.scored.front()] - 1, question(e));
  const auto found = std::search(string.begin(), string.end(), key.begin(), key.end());
  const auto answer = found + static_cast<std::ptrdiff_t>(key.size());
  return Tokens(answer, answer + static_cast<std::ptrdiff_t>(e.scored.size()));
});

const RegisterOracle variable_tracking("variable_tracking", [](const Example& e) {
  const Tokens text = question(e);
  std::set<int> reached{text.back()};
  Tokens variables;
  for (size_t t = 1; t + 2 < text.size(); ++t) {
    if (text[t] != 36 || reached.count(text[t + 1]) == 0) continue;
    reached.insert(text[t - 1]);
    variables.push_back(text[t - 1]);
  }
  return variables;
});

}  // namespace
}  // namespace posbench
