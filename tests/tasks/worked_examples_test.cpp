// The worked examples of the reference, and the layouts.
#include "tasks/examples.h"
#include "tasks/registry.h"
#include "tests/catch.h"
#include "tests/tasks/oracles.h"

using namespace posbench;

TEST_CASE("an answer is fed back one place late, or asked for in empty slots, at the same places") {
  const Example fed = ask(Layout::fed_back, {7, 8}, 9, {1, 2, 3}, 2);
  CHECK(fed.tokens == Tokens{7, 8, 9, 1, 2});
  CHECK(fed.targets == Tokens{kIgnore, kIgnore, 1, 2, 3});
  CHECK(fed.scored == Tokens{2, 3});
  CHECK(fed.segments == Tokens{0, 0, 1, 1, 1});
  const Example slots = ask(Layout::slots, {7, 8}, 9, {1, 2, 3});
  CHECK(slots.tokens == Tokens{7, 8, 9, 9, 9});
  CHECK(slots.targets == fed.targets);
  CHECK(slots.scored == Tokens{2, 3, 4});
}

TEST_CASE("a delimiter belongs to the segment that it ends") {
  CHECK(segments_ended_by(0, Tokens{5, 0, 6, 7, 0, 8}) == Tokens{0, 0, 1, 1, 1, 2});
}

TEST_CASE("last-x retrieval: the worked example") {
  const Example e{.tokens = {1, 5, 0, 3, 1, 6, 0, 4, 0, 5, 2}, .scored = {10}};
  CHECK(oracles().at("last_x_retrieval")(e) == Tokens{6});
}

TEST_CASE("parity check: the worked example") {
  const Example e{.tokens = {1, 0, 1, 0, 1, 0, 0, 2}, .scored = {7}};
  CHECK(oracles().at("parity_check")(e) == Tokens{1});
}

TEST_CASE("last-x retrieval refuses a distance that its items cannot hold") {
  CHECK_THROWS_WITH(
      tasks().find("last_x_retrieval").make(Spec::parse("last_x_retrieval:length=8,distance=3..8"), Layout::fed_back),
      "task 'last_x_retrieval': distance 3..8 needs more than 8 items; shorten it or lengthen length");
}
