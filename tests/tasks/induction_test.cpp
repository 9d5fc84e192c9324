// Tests the induction tasks.
#include <set>
#include <string>

#include "harness/verify/oracles.h"
#include "tasks/parts/examples.h"
#include "tasks/registry.h"
#include "tests/catch.h"
#include "tests/tasks/text_task.h"

using namespace posbench;

TEST_CASE("induction heads: the answer is the token after the first trigger") {
  const Example e = ask(Layout::teacher_forced, {3, 7, 15, 5, 1, 0, 5}, 15, {5});
  CHECK(oracles().at("induction_heads")(e) == Tokens{5});
}

TEST_CASE("induction by repetition scores the second block from its second token on") {
  const Example e = predict_next({5, 2, 7, 2, 5, 2, 7, 2}, {4, 5, 6}, Loss::clean);
  CHECK(oracles().at("induction_repeat")(e) == Tokens{2, 7, 2});
}

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
