// Tests the tasks of nested brackets and operations.
#include <algorithm>

#include "harness/check/oracles.h"
#include "tasks/registry.h"
#include "tests/catch.h"
#include "tests/tasks/text_task.h"

using namespace posbench;

TEST_CASE("Dyck scores every closing bracket, chosen among the closing ones, and keeps its depth and length") {
  const auto dyck = make("dyck:depth=3,types=2,length=10");
  CHECK(dyck->vocabulary() == 5);
  int deepest = 0;
  for (int n = 0; n < 200; ++n) {
    Rng rng = make_rng(0, "dyck", n);
    const Example e = dyck->sample(10, rng);
    CHECK(e.candidates == Tokens{2, 3});
    CHECK(e.tokens.size() == 20);
    CHECK(e.targets.back() == 4);
    CHECK(e.scored.size() == 10);
    int depth = 0;
    for (const int token : e.tokens) {
      depth += token < 2 ? 1 : -1;
      REQUIRE(depth >= 0);
      deepest = std::max(deepest, depth);
    }
    CHECK(depth == 0);
  }
  CHECK(deepest == 3);
}

TEST_CASE(
    "Dyck: a long sequence of the released sampler is nested from its beginning, and short ones are likelier") {
  Rng rng = make_rng(0, "released");
  const Example e = make("dyck:ends=released,length=3000,opening=0.1")->sample(3000, rng);
  int depth = 0, nested_in_third[3] = {};
  for (size_t t = 0; t < e.tokens.size(); ++t) {
    depth += e.tokens[t] < 8 ? 1 : -1;
    nested_in_third[3 * t / e.tokens.size()] += depth > 1;
  }
  CHECK(nested_in_third[0] > nested_in_third[2] / 2);
  CHECK(nested_in_third[2] > 100);
  const auto lengths = make("dyck:ends=released,length=2000..2100,opening=0.1");
  for (int n = 0; n < 20; ++n) CHECK(lengths->sample(2000, rng).length < 2020);
}
