// Tests the induction tasks.
#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "harness/check/oracles.h"
#include "tasks/registry.h"
#include "tests/catch.h"
#include "tests/tasks/text_task.h"

using namespace posbench;

TEST_CASE("k-hop answers the example of the paper, baebcabebdea") {
  const TextTask task("k_hop:symbols=5,hops=1..2");
  const std::string sequence = "b a e b c a b e b d e a";
  const auto last_answer = [&](int hops) {
    Tokens tokens = task.ids(sequence);
    tokens.insert(tokens.begin(), 4 + hops);  // the oracle is the default's: four tokens, ~, then the hops
    return task.text(oracles().at("k_hop")(Example{.tokens = tokens, .scored = {12}}));
  };
  CHECK(last_answer(1) == "b");
  CHECK(last_answer(2) == "c");
}

TEST_CASE("induction heads: every distance from 2 to the length minus 2 occurs") {
  const auto task = make("induction_heads:length=16");
  std::set<int> distances;
  for (int n = 0; n < 2000; ++n) {
    Rng rng = make_rng(0, "distances", n);
    const Example e = task->sample(16, rng);
    distances.insert(e.scored[0] - e.evidence[0]);
  }
  CHECK(distances.size() == 13);
  CHECK(*distances.begin() == 2);
  CHECK(*distances.rbegin() == 14);
}

namespace {

/// Returns the positions of the first symbols of strings.
std::vector<int> beginnings(const Tokens& sequence) {
  std::vector<int> positions{0};
  for (size_t t = 0; t < sequence.size(); ++t) {
    if (sequence[t] == 0) positions.push_back(static_cast<int>(t) + 1);
  }
  return positions;
}

/// Returns the string that has position t, up to this position.
Tokens prefix_at(const Tokens& sequence, int t) {
  int begin = t;
  while (begin > 0 && sequence[begin - 1] != 0) --begin;
  return {sequence.begin() + begin, sequence.begin() + t + 1};
}

}  // namespace

TEST_CASE("a random automaton allows only the answer at a scored position") {
  const TextTask task("random_automaton:length=400");
  int num_compared = 0;
  for (int n = 0; n < 20; ++n) {
    const Example e = task.draw(400, n);
    // Strings with the same prefix are in the same state, so many of them show all its edges.
    std::map<Tokens, Tokens> next;
    for (const int begin : beginnings(e.tokens)) {
      for (int t = begin; t + 1 < static_cast<int>(e.tokens.size()) && e.tokens[t + 1] != 0; ++t)
        next[prefix_at(e.tokens, t)].push_back(e.tokens[t + 1]);
    }
    for (const int t : e.scored) {
      const Tokens& allowed = next[prefix_at(e.tokens, t)];
      CHECK(std::ranges::count(allowed, e.targets[t]) == std::ssize(allowed));
      num_compared += allowed.size() > 10 ? 1 : 0;
    }
  }
  CHECK(num_compared > 1000);
}

TEST_CASE("a random automaton scores every context at most once in a string, and never in the first string") {
  const TextTask task("random_automaton");
  int num_scored = 0, last_symbol_misleads = 0;
  for (int n = 0; n < 500; ++n) {
    const Example e = task.draw(8, n);
    std::set<Tokens> contexts;
    for (size_t i = 0; i < e.scored.size(); ++i) {
      const int t = e.scored[i];
      const Tokens prefix = prefix_at(e.tokens, t);
      const int begin = t + 1 - static_cast<int>(prefix.size());
      CHECK(begin > 0);
      CHECK(e.evidence[i] < begin);
      CHECK(prefix.size() >= 2);
      CHECK(contexts.insert({begin, e.tokens[t - 1], e.tokens[t]}).second);
      int last = t - 1;
      while (e.tokens[last] != e.tokens[t] || e.tokens[last + 1] == 0) --last;
      ++num_scored;
      last_symbol_misleads += e.tokens[last + 1] != e.targets[t] ? 1 : 0;
    }
  }
  CHECK(last_symbol_misleads > num_scored / 4);
}

TEST_CASE("random automata have the published sizes") {
  const TextTask task(
      "random_automaton:states=4..12,symbols=4..18,vocabulary=18,length=10..19,string=1..49,loss=noisy");
  CHECK(task.task().vocabulary() == 19);
  std::set<int> num_symbols, string_lengths;
  for (int n = 0; n < 300; ++n) {
    const Example e = task.draw(10, n);
    CHECK(beginnings(e.tokens).size() == 10);
    CHECK(Tokens(e.targets.begin(), e.targets.end() - 1) == Tokens(e.tokens.begin() + 1, e.tokens.end()));
    const std::set<int> tokens(e.tokens.begin(), e.tokens.end());
    num_symbols.insert(static_cast<int>(tokens.size()) - 1);
    const std::vector<int> begins = beginnings(e.tokens);
    for (size_t i = 1; i < begins.size(); ++i) string_lengths.insert(begins[i] - begins[i - 1] - 1);
    CHECK(scored_answers(e) == oracles().at("random_automaton")(e));
  }
  CHECK(*num_symbols.begin() >= 1);
  CHECK(*num_symbols.rbegin() > 12);
  CHECK(*string_lengths.begin() == 1);
  CHECK(*string_lengths.rbegin() == 49);
}
