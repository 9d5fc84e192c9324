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

TEST_CASE("the runs of local count have the published mean length") {
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

TEST_CASE("i-th word counts only nouns, also from the end") {
  const TextTask end("ith_word:from=end");
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

TEST_CASE("count a word in the last sentence: words have pieces, and full stops have none") {
  const TextTask whole("count_word_last_sentence"), pieces("count_word_last_sentence:pieces=2");
  for (int n = 0; n < 50; ++n) {
    const Example expected = whole.draw(3, n), e = pieces.draw(3, n);
    std::string text;
    for (const int& token : expected.tokens) {
      text += (text.empty() ? "" : " ") + whole.task().token_text(token);
      if (token < 16 && &token != &expected.tokens.back()) text += " +1";
    }
    CHECK(pieces.text(e.tokens) == text);
    CHECK(pieces.answer(e) == whole.answer(expected));
  }
}
