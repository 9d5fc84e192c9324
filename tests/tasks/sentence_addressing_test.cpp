// Tests the tasks that address sentences.
#include <string>
#include <utility>

#include "harness/check/oracles.h"
#include "tasks/parts/examples.h"
#include "tasks/registry.h"
#include "tests/catch.h"
#include "tests/tasks/text_task.h"

using namespace posbench;

TEST_CASE("count a word in the last sentence: the answer counts the last sentence") {
  const Example e{.tokens = {2, 2, 1, 0, 4, 3, 2, 0, 1, 4, 5, 2}, .scored = {11}};
  CHECK(oracles().at("count_word_last_sentence")(e) == Tokens{7});
}

TEST_CASE("count a word in the last sentence ignores earlier sentences, and may count 0") {
  const Example e{.tokens = {2, 2, 1, 0, 4, 3, 1, 0, 1, 4, 5, 2}, .scored = {11}};
  CHECK(oracles().at("count_word_last_sentence")(e) == Tokens{6});
}

TEST_CASE(
    "count a word in the last sentence: Alice and book, twice in the first of two sentences, as in CoPE's paper") {
  const TextTask task("count_word_last_sentence");
  const std::string sentences = "2 0 1 3 4 3 5 2 6 . 7 8 9 10 11 12 . ? ";
  CHECK(task.answer(sentences + "2") == "#0");
  CHECK(task.answer(sentences + "3") == "#0");
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

TEST_CASE("i-th last sentence: topics are counted from the end") {
  const Tokens sentences{0, 8, 3, 16, 2, 2, 15, 16, 9, 1, 16};
  for (const auto& [queried, topic] : {std::pair{1, 9}, {2, 15}, {3, 8}}) {
    const Example e = ask(Layout::teacher_forced, sentences, 16 + queried, {topic});
    CHECK(oracles().at("ith_last_sentence")(e) == Tokens{topic});
  }
}
