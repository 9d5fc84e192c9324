// Tests the selective copying tasks with published and worked examples.
#include <string>

#include "harness/check/oracles.h"
#include "tasks/parts/examples.h"
#include "tasks/registry.h"
#include "tests/catch.h"
#include "tests/tasks/text_task.h"

using namespace posbench;

TEST_CASE("selective copy: the answer is the data tokens without blanks") {
  const Example e = ask(Layout::teacher_forced, {3, 4, 4, 2, 1, 4, 1, 4, 0}, 5, {3, 2, 1, 1, 0});
  CHECK(oracles().at("selective_copy")(e) == Tokens{3, 2, 1, 1, 0});
}

TEST_CASE("selective copy: the published illustration D B B C F B F B E becomes D C F F E") {
  const Example e = ask(Layout::teacher_forced, {3, 6, 6, 2, 5, 6, 5, 6, 4}, 7, {3, 2, 5, 5, 4});
  CHECK(oracles().at("selective_copy")(e) == Tokens{3, 2, 5, 5, 4});
}

TEST_CASE("selective copy in the form of Mamba: the answer is the data tokens without blanks") {
  const Example e = ask(Layout::slots, {0, 6, 0, 0, 0, 0, 0, 6, 7, 0, 7, 5, 0, 0, 0}, 9, {6, 6, 7, 7, 5});
  CHECK(oracles().at("selective_copy_mamba")(e) == Tokens{6, 6, 7, 7, 5});
}

TEST_CASE("tasks that are published with slots have no teacher forcing in any layout") {
  for (const std::string name : {"selective_copy_mamba", "mad_selective_copying"}) {
    Rng rng = make_rng(0, name);
    const Example e = make(name)->sample(16, rng);
    for (const int t : e.scored) CHECK(e.tokens[t] == e.tokens[e.scored.front()]);
  }
}

TEST_CASE("selective copying of MAD: no blank follows the last data token") {
  const Example e = ask(Layout::slots, {3, 14, 14, 7, 14, 0, 15}, 14, {3, 7, 0});
  CHECK(oracles().at("mad_selective_copying")(e) == Tokens{3, 7, 0});
  Rng rng = make_rng(0, "mad");
  const auto task = make("mad_selective_copying:blanks=13.9375", Layout::slots);
  const Example published = task->sample(16, rng);
  CHECK(published.tokens.size() == 256);
  CHECK(published.tokens[239] == 15);
  CHECK(published.tokens[238] < 14);
}
