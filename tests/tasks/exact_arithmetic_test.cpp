// Compares the big integers of the tasks with arithmetic digit by digit, at the longest published length.
#include <memory>

#include "harness/check/oracles.h"
#include "harness/check/oracles/schoolbook.h"
#include "tasks/parts/digits.h"
#include "tasks/registry.h"
#include "tests/catch.h"
#include "tests/tasks/text_task.h"

using namespace posbench;

TEST_CASE("sums, products and roots of five hundred digits are exact") {
  for (const int base : {2, 10}) {
    for (int n = 0; n < 20; ++n) {
      Rng rng = make_rng(0, "exact", n);
      const Digits a = uniform_tokens(rng, 500, 0, base - 1);
      const Digits b = uniform_tokens(rng, uniform(rng, 1, 500), 0, base - 1);
      CHECK(add(a, b, base) == schoolbook::sum(a, b, base));
      CHECK(multiply(a, b, base) == schoolbook::product(a, b, base));

      const Digits root = square_root(a, base), above = schoolbook::sum(root, {1}, base);
      CHECK_FALSE(schoolbook::less(a, schoolbook::product(root, root, base)));
      CHECK(schoolbook::less(a, schoolbook::product(above, above, base)));
    }
  }
}

TEST_CASE("the smallest numbers are exact, and zero is one digit") {
  CHECK(add({0}, {0, 0}, 10) == Digits{0});
  CHECK(add({9, 9}, {1}, 10) == Digits{0, 0, 1});
  CHECK(multiply({0}, {7}, 10) == Digits{0});
  CHECK(square_root({0}, 2) == Digits{0});
  CHECK(square_root({1}, 2) == Digits{1});
  CHECK(square_root({5, 3}, 10) == Digits{5});
}

TEST_CASE("samples of the number tasks at length 500 agree with the oracle") {
  for (const char* task :
       {"binary_addition", "binary_multiplication", "compute_sqrt", "addition", "multiplication"}) {
    const std::unique_ptr<Task> made = make(task);
    for (int n = 0; n < 10; ++n) {
      Rng rng = make_rng(0, "long", n);
      const Example e = made->sample(500, rng);
      CHECK(scored_answers(e) == oracles().at(task)(e));
    }
  }
}
