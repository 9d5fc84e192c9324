// Tests the counting tasks with published and worked examples.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "harness/check/oracles.h"
#include "tasks/registry.h"
#include "tests/catch.h"
#include "tests/tasks/text_task.h"

using namespace posbench;

TEST_CASE("counting has the published vocabulary, except for padding and start") {
  for (const auto& [variables, published] : {std::pair{1, 19}, {3, 21}, {5, 23}}) {
    const Spec spec = Spec::parse(fmt::format("counting:variables={}", variables));
    CHECK(tasks().find("counting").make(spec, Layout::teacher_forced)->vocabulary() == published - 2);
  }
}

TEST_CASE("counting: the answer is the number of increments since the last reset") {
  const auto counting = make("counting:variables=3");
  const Example e{.tokens = {0, 3, 8, 4, 6, 0, 5, 1, 3, 8, 4, 6, 0, 5, 1, 5, 7, 0}, .scored = {17}};
  std::string words;
  for (const int token : e.tokens) words += counting->token_text(token) + " ";
  CHECK(words == "a = 0 ; pass; a ++; b = 0 ; pass; a ++; b ++; print a ");
  CHECK(counting->token_text(oracles().at("counting")(e).at(0)) == "2");
}

TEST_CASE("local count counts within a run, and runs have the published mean length") {
  const TextTask task("local_count");
  CHECK(task.answers("^ t7 t7 t7 t2 t2 t7 t7 t7 t7", {1, 2, 3, 4, 5, 6, 7, 8, 9}) == "0 1 2 0 1 0 1 2 3");
  const TextTask published("local_count:run=2..48,longest=48,length=4");
  int runs = 0, tokens = 0;
  for (int n = 0; n < 2000; ++n) {
    const Example e = published.draw(4, n);
    for (const int distance : e.distances) runs += distance == 0;
    tokens += static_cast<int>(e.scored.size());
  }
  CHECK(runs == 4 * 2000);
  CHECK(static_cast<double>(tokens) / runs ==
        Approx(25).epsilon(0.02));  // (max_reps + 2) / 2, as the code reckons
}

TEST_CASE("common words answers the example of table 2 of RULER") {
  // aaa bbb ccc aaa ddd eee ccc fff ggg hhh iii iii
  CHECK(TextTask("common_words").answer("w1 w2 w3 w1 w4 w5 w3 w6 w7 w8 w9 w9 =", 3) == "w1 w3 w9");
  CHECK(TextTask("common_words").answer("w9 w4 w2 w9 w7 w2 w2 w9 =", 2) == "w2 w9");
}

TEST_CASE("frequent words answers the example of table 2 of RULER") {
  // aaa bbb ccc aaa ddd eee ccc fff ggg aaa hhh aaa ccc iii iii
  CHECK(TextTask("frequent_words").answer("w1 w2 w3 w1 w4 w5 w3 w6 w7 w1 w8 w1 w3 w9 w9 =", 3) == "w1 w3 w9");
  CHECK(TextTask("frequent_words").answer(". w5 . . w9 . w5 w1 . w5 w9 . =", 3) == "w5 w9 w1");
}

TEST_CASE("frequent words occur as often as in a zeta distribution, rounded down") {
  const TextTask task("frequent_words:length=1000,symbols=64");
  const Example e = task.draw(1000);
  std::map<int, int> counts;
  for (int t = 0; t < e.scored.front(); ++t) ++counts[e.tokens[t]];
  CHECK(counts.at(64) == 607);  // 1000 * 6 / pi^2
  Tokens of_answer;
  for (const int t : e.scored) of_answer.push_back(counts.at(e.targets[t]));
  CHECK(of_answer == Tokens{151, 67, 37});
}

TEST_CASE("i-th word counts only nouns, from the start or from the end") {
  const TextTask start("ith_word"), end("ith_word:from=end");
  CHECK(start.answer("the N5 a is N2 of N7 2 =") == "N2");
  CHECK(start.answer("the N5 a is N2 of N7 1 =") == "N5");
  for (int n = 0; n < 200; ++n) {
    const Example e = end.draw(24, n);
    Tokens nouns;
    for (const int token : e.tokens) {
      if (token >= 8 && token < 24) nouns.push_back(token);
    }
    const int index = e.tokens[24] - 23;
    CHECK(e.targets.back() == nouns[nouns.size() - index]);
    CHECK(e.tokens[24 - e.distances[0]] == e.targets.back());
  }
}

TEST_CASE("i-th word counts words, not their pieces") {
  const TextTask whole("ith_word"), pieces("ith_word:pieces=1..3");
  CHECK(pieces.task().vocabulary() == whole.task().vocabulary() + 2);
  CHECK(pieces.task().token_text(whole.task().vocabulary()) == "+1");
  for (int n = 0; n < 100; ++n) {
    const Example expected = whole.draw(24, n), e = pieces.draw(24, n);
    CHECK(e.distances == expected.distances);
    Tokens first;
    std::map<int, std::set<int>> counts;  // the numbers of pieces of each word
    int count = 0;
    for (size_t t = 0; t < e.tokens.size(); ++t) {
      if (e.tokens[t] < whole.task().vocabulary()) {
        first.push_back(e.tokens[t]);
        count = 0;
      } else {
        CHECK(e.tokens[t] == whole.task().vocabulary() + count++);
      }
      if (t + 1 == e.tokens.size() || e.tokens[t + 1] < whole.task().vocabulary())
        counts[first.back()].insert(count);
    }
    CHECK(first == expected.tokens);
    CHECK(scored_answers(e) == scored_answers(expected));
    for (const auto& [word, numbers] : counts)
      CHECK(numbers == std::set<int>{word < 24 ? word % 3 : 0});  // one noun or filler in three has three pieces
  }
}

TEST_CASE("local count: every length of a run occurs") {
  const auto task = make("local_count:run=2..5");
  std::set<int> lengths;
  for (int n = 0; n < 100; ++n) {
    Rng rng = make_rng(0, "runs", n);
    const Example e = task->sample(4, rng);
    for (int run = 0; run < 4; ++run) {
      const auto tokens = std::count(e.segments.begin(), e.segments.end(), run);
      lengths.insert(static_cast<int>(tokens) - (run == 0 ? 1 : 0));  // the first token begins the sequence
    }
  }
  CHECK(lengths == std::set<int>{2, 3, 4, 5});
}

TEST_CASE("counting: a distance counts the tokens from the answer back to the last reset") {
  const auto counting = make("counting");
  for (int n = 0; n < 200; ++n) {
    Rng rng = make_rng(0, "distances", n);
    const Example e = counting->sample(20, rng);
    int reset = static_cast<int>(e.tokens.size()) - 2;  // before the variable that is printed, the last token
    while (e.tokens[reset] != e.tokens.back() || counting->token_text(e.tokens[reset + 1]) != "=") --reset;
    REQUIRE(e.distances == Tokens{e.scored[0] - reset});
  }
}
