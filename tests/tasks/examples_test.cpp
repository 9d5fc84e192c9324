// Tests the layouts and segments of examples.
#include "tasks/parts/examples.h"

#include "harness/check/oracles.h"
#include "tasks/registry.h"
#include "tests/catch.h"

using namespace posbench;

TEST_CASE("a teacher-forced answer and one in empty slots have the same target positions") {
  const Example forced = ask(Layout::teacher_forced, {7, 8}, 9, {1, 2, 3}, 2);
  CHECK(forced.tokens == Tokens{7, 8, 9, 1, 2});
  CHECK(forced.targets == Tokens{kIgnore, kIgnore, 1, 2, 3});
  CHECK(forced.scored == Tokens{2, 3});
  CHECK(forced.segments == Tokens{0, 0, 1, 1, 1});
  const Example slots = ask(Layout::slots, {7, 8}, 9, {1, 2, 3});
  CHECK(slots.tokens == Tokens{7, 8, 9, 9, 9});
  CHECK(slots.targets == forced.targets);
  CHECK(slots.scored == Tokens{2, 3, 4});
}

TEST_CASE("a delimiter belongs to the segment that it ends") {
  CHECK(segments_ended_by(0, Tokens{5, 0, 6, 7, 0, 8}) == Tokens{0, 0, 1, 1, 1, 2});
}

TEST_CASE("the distance of an answer counts the tokens back to its evidence") {
  Example example = ask(Layout::teacher_forced, {7, 8, 6}, 9, {8, 7});
  set_evidence(example, {1, 0});
  CHECK(example.scored == Tokens{3, 4});
  CHECK(example.evidence == Tokens{1, 0});
  CHECK(example.distances == Tokens{2, 4});
}
