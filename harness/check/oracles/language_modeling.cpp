// Oracles of the tasks in tasks/language_modeling.
#include "harness/check/oracles.h"
#include "harness/check/oracles/token_lists.h"

namespace posbench::language_modeling {
namespace {

/// Returns the position of the subject, the first noun of the sentence that has position t. The ids 1 to 16 are 8
/// nouns in singular and plural; 17 and 18 are one verb.
int subject_before(const Example& e, int t) {
  while (t > 0 && e.tokens[t - 1] != 0) --t;
  return t;
}

bool is_verb(int token) { return token == 17 || token == 18; }

const RegisterOracle grammar(
    "grammar", {"scored"},
    [](const Example& e) {
      return for_each_scored(e, [&](int t) {
        const int following = e.tokens[t + 1], subject = e.tokens[subject_before(e, t)];
        return !is_verb(following) ? following : subject % 2 == 1 ? 17 : 18;
      });
    },
    [](const Example& e) {
      return for_each_scored(e,
                             [&](int t) { return is_verb(e.tokens[t + 1]) ? t + 1 - subject_before(e, t) : 1; });
    });

const RegisterOracle text("text", {"file", "crc32"}, [](const Example& e) {
  Tokens next;
  for (const int t : e.scored) next.push_back(e.tokens[t + 1]);
  return next;
});

}  // namespace
}  // namespace posbench::language_modeling
