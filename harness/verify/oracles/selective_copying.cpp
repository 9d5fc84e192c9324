// Oracles of the tasks in tasks/selective_copying.
#include "harness/verify/oracles.h"
#include "harness/verify/oracles/token_lists.h"

namespace posbench {
namespace {

const RegisterOracle mad_copying("mad_selective_copying", {"tokens"}, [](const Example& e) {
  const int blank = e.tokens.back(), marker = blank + 1;
  return without(marker, without(blank, question(e)));
});

const RegisterOracle selective_copy("selective_copy", {"tokens"}, [](const Example& e) {
  const int separator = e.tokens[e.scored.front()], blank = separator - 1;
  return without(blank, question(e));
});

const RegisterOracle selective_copy_mamba("selective_copy_mamba", {"tokens"},
                                          [](const Example& e) { return without(0, question(e)); });

}  // namespace
}  // namespace posbench
