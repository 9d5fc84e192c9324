// Oracles of the tasks in tasks/sentence_addressing.
#include <algorithm>
#include <cstddef>
#include <iterator>
#include <vector>

#include "harness/check/oracles.h"

namespace posbench::sentence_addressing {
namespace {

// The ids are words, full stop, question mark, counts. The question ends in ". ? word".
const RegisterOracle count_word(
    "count_word_last_sentence", {"lexicon", "largest", "distractors"}, [](const Example& e) {
      const int queried = e.tokens.back(), stop = e.tokens.end()[-2] - 1;
      const auto last_stop = e.tokens.end() - 3;
      const auto sentence = std::find(std::make_reverse_iterator(last_stop), e.tokens.rend(), stop).base();
      return Tokens{stop + 2 + static_cast<int>(std::count(sentence, last_stop, queried))};
    });

/// Returns the number of full stops from the end back to the queried sentence.
int queried_sentence(const Example& e) { return e.tokens.back() - e.tokens.end()[-2]; }

const RegisterOracle ith_last_sentence(
    "ith_last_sentence", {"topics", "farthest"},
    [](const Example& e) {
      constexpr int kFillers = 8;
      const int stop = e.tokens.end()[-2];
      int sentences = queried_sentence(e);
      size_t t = e.tokens.size() - 1;
      while (sentences > 0) sentences -= e.tokens[--t] == stop;
      while (e.tokens[--t] < kFillers) continue;
      return Tokens{e.tokens[t]};
    },
    [](const Example& e) { return std::vector<int>{queried_sentence(e)}; });

}  // namespace
}  // namespace posbench::sentence_addressing
