// Reference checks of the encodings in encodings/index_remap.
#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

#include "base/random.h"
#include "tests/encodings/checks/checks.h"

namespace posbench {
namespace {

/// Returns the section's tokens with the position of each digit in its run.
Sequence digits(const Json& s, bool training) {
  Sequence sequence;
  sequence.training = training;
  int position = 0;
  for (const Json& token : s.at("tokens")) {
    position = std::isdigit(token.get<std::string>()[0]) ? position + 1 : 0;
    sequence.digit_positions.push_back(position);
    sequence.tokens.push_back(0);
  }
  return sequence;
}

const RegisterChecks abacus{"abacus",
                            {{"tokens"},
                             {{"ids_eval",
                               [](const Json& s) {
                                 Bench bench("abacus", 10, 4, 1, true);
                                 bench.sequence = digits(s, false);
                                 bench.update();
                                 check_close(embedded_rows(bench, "abacus.table"), s.at("ids_eval"));
                               }},
                              {"ids_train_offset_k5", [](const Json& s) {  // One of the draws has the offset 5.
                                 Bench bench("abacus:max_offset=7", 10, 4, 1, true);
                                 bench.sequence = digits(s, true);
                                 Rng rng = make_rng(0, "abacus");
                                 std::vector<int> seen(8);
                                 for (int draw = 0; draw < 200; ++draw) {
                                   bench.sequence.positions = bench.encoding->positions(bench.sequence, rng);
                                   const int offset = static_cast<int>(bench.sequence.positions.at[0]) - 1;
                                   REQUIRE(offset >= 0);
                                   REQUIRE(offset <= 7);
                                   ++seen[static_cast<size_t>(offset)];
                                   if (offset == 5)
                                     check_close(embedded_rows(bench, "abacus.table"),
                                                 s.at("ids_train_offset_k5"));
                                 }
                                 CHECK(*std::min_element(seen.begin(), seen.end()) > 0);
                               }}}}};

}  // namespace
}  // namespace posbench
