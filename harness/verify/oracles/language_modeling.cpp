// Oracles of the tasks in tasks/language_modeling.
#include "harness/verify/oracles.h"

namespace posbench {
namespace {

// The ids 1 to 16 are 8 nouns in singular and plural; 17 and 18 are one verb.
const RegisterOracle grammar("grammar", {"scored"}, [](const Example& e) {
  Tokens next;
  int subject = e.tokens.front(), t = 0;
  for (const int at : e.scored) {
    for (; t <= at; ++t) {
      if (t > 0 && e.tokens[t - 1] == 0) subject = e.tokens[t];
    }
    const int following = e.tokens[at + 1];
    next.push_back(following != 17 && following != 18 ? following : subject % 2 == 1 ? 17 : 18);
  }
  return next;
});

const RegisterOracle text("text", {"file", "crc32"}, [](const Example& e) {
  Tokens next;
  for (const int t : e.scored) next.push_back(e.tokens[t + 1]);
  return next;
});

}  // namespace
}  // namespace posbench
