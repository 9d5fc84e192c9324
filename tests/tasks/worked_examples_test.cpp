// The worked examples of the reference, and the layouts.
#include <algorithm>
#include <map>
#include <set>

#include "tasks/parts/examples.h"
#include "harness/verify/oracles.h"
#include "tasks/registry.h"
#include "tests/catch.h"

using namespace posbench;

TEST_CASE("a teacher-forced answer and one in empty slots have the same target positions") {
  const Example forced = ask(Layout::teacher_forced, {7, 8}, 9, {1, 2, 3}, 2);
  CHECK(forced.tokens == Tokens{7, 8, 9, 1, 2});
  CHECK(forced.targets == Tokens{kIgnore, kIgnore, 1, 2, 3});
  CHECK(forced.scored == Tokens{2, 3});
  CHECK(forced.segments == Tokens{0, 0, 1, 1, 1});
  const Example slots = ask(Layout::slots, {7, 8}, 9, {1, 2, 3});
  CHECK(slots.tokens == Tokens{7, 8, 9, 9, 9});
  CHECK(slots.targets == forced.targets);
  CHECK(slots.scored == Tokens{2, 3, 4});
}

TEST_CASE("a delimiter belongs to the segment that it ends") {
  CHECK(segments_ended_by(0, Tokens{5, 0, 6, 7, 0, 8}) == Tokens{0, 0, 1, 1, 1, 2});
}

TEST_CASE("last-x retrieval: the worked example") {
  const Example e{.tokens = {1, 5, 0, 3, 1, 6, 0, 4, 0, 5, 2}, .scored = {10}};
  CHECK(oracles().at("last_x_retrieval")(e) == Tokens{6});
}

TEST_CASE("parity check: the worked example") {
  const Example e{.tokens = {1, 0, 1, 0, 1, 0, 0, 2}, .scored = {7}};
  CHECK(oracles().at("parity_check")(e) == Tokens{1});
}

TEST_CASE("last-x retrieval refuses a distance that its items cannot hold") {
  CHECK_THROWS_WITH(
      tasks()
          .find("last_x_retrieval")
          .make(Spec::parse("last_x_retrieval:length=8,distance=3..8"), Layout::teacher_forced),
      "task 'last_x_retrieval': distance 3..8 needs more than 8 items; shorten it or lengthen length");
}

TEST_CASE("flip-flop: the worked example") {
  const Example e = predict_next({0, 4, 2, 3, 1, 4, 0, 3, 2, 4, 1, 3}, {4, 10}, Loss::clean);
  CHECK(oracles().at("flip_flop")(e) == Tokens{4, 3});
  CHECK(e.tokens == Tokens{0, 4, 2, 3, 1, 4, 0, 3, 2, 4, 1});
  CHECK(e.targets == Tokens{-1, -1, -1, -1, 4, -1, -1, -1, -1, -1, 3});
}

TEST_CASE("flip-flop trains on every next token if its loss is noisy, and scores only the reads") {
  const auto flip_flop = tasks().find("flip_flop").make(Spec::parse("flip_flop:loss=noisy"), Layout::teacher_forced);
  Rng rng = stream(0, "noisy");
  const Example e = flip_flop->sample(32, rng);
  CHECK(Tokens(e.targets.begin(), e.targets.end() - 1) == Tokens(e.tokens.begin() + 1, e.tokens.end()));
  for (const int t : e.scored) CHECK(e.tokens[t] == 1);
}

TEST_CASE("selective copy: the worked example") {
  const Example e = ask(Layout::teacher_forced, {3, 4, 4, 2, 1, 4, 1, 4, 0}, 5, {3, 2, 1, 1, 0});
  CHECK(oracles().at("selective_copy")(e) == Tokens{3, 2, 1, 1, 0});
}

TEST_CASE("selective copy: the published illustration, D B B C F B F B E to D C F F E") {
  const Example e = ask(Layout::teacher_forced, {3, 6, 6, 2, 5, 6, 5, 6, 4}, 7, {3, 2, 5, 5, 4});
  CHECK(oracles().at("selective_copy")(e) == Tokens{3, 2, 5, 5, 4});
}

TEST_CASE("counting has the published vocabulary, except for padding and start") {
  for (const auto& [variables, published] : {std::pair{1, 19}, {3, 21}, {5, 23}}) {
    const Spec spec = Spec::parse(fmt::format("counting:variables={}", variables));
    CHECK(tasks().find("counting").make(spec, Layout::teacher_forced)->vocabulary() == published - 2);
  }
}

TEST_CASE("counting: the worked example") {
  const auto counting = tasks().find("counting").make(Spec::parse("counting:variables=3"), Layout::teacher_forced);
  const Example e{.tokens = {0, 3, 8, 4, 6, 0, 5, 1, 3, 8, 4, 6, 0, 5, 1, 5, 7, 0}, .scored = {17}};
  std::string words;
  for (const int token : e.tokens) words += counting->word(token) + " ";
  CHECK(words == "a = 0 ; pass; a ++; b = 0 ; pass; a ++; b ++; print a ");
  CHECK(counting->word(oracles().at("counting")(e).at(0)) == "2");
}

TEST_CASE("selective copy, Mamba's form: the worked example") {
  const Example e = ask(Layout::slots, {0, 6, 0, 0, 0, 0, 0, 6, 7, 0, 7, 5, 0, 0, 0}, 9, {6, 6, 7, 7, 5});
  CHECK(oracles().at("selective_copy_mamba")(e) == Tokens{6, 6, 7, 7, 5});
}

TEST_CASE("tasks that are published with slots have no teacher forcing in any layout") {
  for (const std::string name : {"selective_copy_mamba", "mad_selective_copying"}) {
    Rng rng = stream(0, name);
    const Example e = tasks().find(name).make(Spec{name, {}}, Layout::teacher_forced)->sample(16, rng);
    for (const int t : e.scored) CHECK(e.tokens[t] == e.tokens[e.scored.front()]);
  }
}

TEST_CASE("count a word in the last sentence: the worked example") {
  const Example e{.tokens = {2, 2, 1, 0, 4, 3, 2, 0, 1, 4, 5, 2}, .scored = {11}};
  CHECK(oracles().at("count_word_last_sentence")(e) == Tokens{7});
}

TEST_CASE("count a word in the last sentence ignores earlier sentences, and may count 0") {
  const Example e{.tokens = {2, 2, 1, 0, 4, 3, 1, 0, 1, 4, 5, 2}, .scored = {11}};
  CHECK(oracles().at("count_word_last_sentence")(e) == Tokens{6});
}

TEST_CASE("i-th last sentence: topics counted from the end") {
  const Tokens sentences{0, 8, 3, 16, 2, 2, 15, 16, 9, 1, 16};
  for (const auto& [queried, topic] : {std::pair{1, 9}, {2, 15}, {3, 8}}) {
    const Example e = ask(Layout::teacher_forced, sentences, 16 + queried, {topic});
    CHECK(oracles().at("ith_last_sentence")(e) == Tokens{topic});
  }
}

TEST_CASE("multi-query associative recall: the worked example") {
  const Example e{.tokens = {2, 8, 4, 7, 0, 0, 4, 0, 0, 0, 2, 0}, .scored = {6, 10}};
  CHECK(oracles().at("mqar")(e) == Tokens{7, 8});
}

TEST_CASE("multi-query associative recall queries every key once, among zeros or random ids") {
  for (const std::string filler : {"zero", "random"}) {
    const auto mqar = tasks().find("mqar").make(Spec::parse("mqar:filler=" + filler), Layout::teacher_forced);
    for (int n = 0; n < 100; ++n) {
      Rng rng = stream(0, "mqar", n);
      const Example e = mqar->sample(64, rng);
      std::set<int> queried;
      for (const int t : e.scored) queried.insert(e.tokens[t]);
      CHECK(queried == std::set<int>{e.tokens[0], e.tokens[2], e.tokens[4], e.tokens[6]});
      CHECK((std::count(e.tokens.begin(), e.tokens.end(), 0) == 64 - 3 * 4) == (filler == "zero"));
      Tokens answers;
      for (const int t : e.scored) answers.push_back(e.targets[t]);
      CHECK(oracles().at("mqar")(e) == answers);
    }
  }
}

TEST_CASE("induction heads: what followed the trigger") {
  const Example e = ask(Layout::teacher_forced, {3, 7, 15, 5, 1, 0, 5}, 15, {5});
  CHECK(oracles().at("induction_heads")(e) == Tokens{5});
}

TEST_CASE("induction by repetition scores the second block from its second token on") {
  const Example e = predict_next({5, 2, 7, 2, 5, 2, 7, 2}, {4, 5, 6}, Loss::clean);
  CHECK(oracles().at("induction_repeat")(e) == Tokens{2, 7, 2});
}

TEST_CASE("in-context recall: the latest value of each key that comes again") {
  const Example e = predict_next({3, 9, 0, 12, 3, 9, 5, 8, 0, 12}, {4, 8}, Loss::clean);
  CHECK(oracles().at("mad_in_context_recall")(e) == Tokens{9, 12});
  const Example noisy = predict_next({3, 9, 20, 17, 0, 12, 3, 9, 31, 16, 0, 12}, {6, 10}, Loss::clean);
  CHECK(oracles().at("mad_noisy_in_context_recall")(noisy) == Tokens{9, 12});
}

TEST_CASE("fuzzy in-context recall: a key is identified by all of its tokens") {
  const Example e = predict_next({2, 4, 9, 4, 2, 7, 2, 11, 12, 2, 4, 9, 2, 11, 12}, {10, 12, 13}, Loss::clean);
  CHECK(oracles().at("mad_fuzzy_in_context_recall")(e) == Tokens{9, 11, 12});
}

TEST_CASE("in-context recall scores every value of a key seen before, and the last") {
  for (const std::string name : {"mad_in_context_recall", "mad_noisy_in_context_recall"}) {
    const auto task = tasks().find(name).make(Spec{name, {}}, Layout::teacher_forced);
    for (int n = 0; n < 100; ++n) {
      Rng rng = stream(0, name, n);
      const Example e = task->sample(32, rng);
      CHECK(e.tokens.size() == 63);
      std::set<int> seen;
      Tokens known;
      for (int t = 0; t < 63; t += 2) {
        if (e.tokens[t] < 8 && !seen.insert(e.tokens[t]).second) known.push_back(t);
      }
      CHECK(e.scored == known);
      CHECK(known.back() == 62);
    }
  }
}

TEST_CASE("fuzzy in-context recall ends with a repeated pair, within its length") {
  const auto task = tasks()
                        .find("mad_fuzzy_in_context_recall")
                        .make(Spec::parse("mad_fuzzy_in_context_recall:length=18..40"), Layout::teacher_forced);
  for (int n = 0; n < 2000; ++n) {
    Rng rng = stream(0, "fuzzy", n);
    const int length = task->lengths().draw(rng);
    const Example e = task->sample(length, rng);
    REQUIRE(static_cast<int>(e.tokens.size()) < length);
    REQUIRE(e.scored.back() == static_cast<int>(e.tokens.size()) - 1);
  }
}

TEST_CASE("selective copying of MAD: no blank follows the last data token") {
  const Example e = ask(Layout::slots, {3, 14, 14, 7, 14, 0, 15}, 14, {3, 7, 0});
  CHECK(oracles().at("mad_selective_copying")(e) == Tokens{3, 7, 0});
  Rng rng = stream(0, "mad");
  const auto task = tasks()
                        .find("mad_selective_copying")
                        .make(Spec::parse("mad_selective_copying:blanks=13.9375"), Layout::slots);
  const Example published = task->sample(16, rng);
  CHECK(published.tokens.size() == 256);
  CHECK(published.tokens[239] == 15);
  CHECK(published.tokens[238] < 14);
}

TEST_CASE("memorization maps keys to distinct values, the same in every split") {
  const TaskEntry& entry = tasks().find("mad_memorization");
  std::map<int, int> value;
  std::set<int> values;
  for (const TaskInfo::Split& split : entry.info.splits) {
    const auto task = make_task(Spec{"mad_memorization", {}}, split, Layout::teacher_forced);
    for (int n = 0; n < 100; ++n) {
      Rng rng = stream(n, split.name);
      const Example e = task->sample(task->lengths().draw(rng), rng);
      for (const int t : e.scored) {
        CHECK(value.emplace(e.tokens[t - 1], e.targets[t]).first->second == e.targets[t]);
        values.insert(e.targets[t]);
      }
    }
  }
  CHECK(value.size() == 127);
  CHECK(values.size() == 127);
}

TEST_CASE("Dyck: the bracket that closes is the one opened last") {
  const Example e = predict_next({1, 0, 8, 3, 11, 9, 2, 10, 16}, {1, 3, 4, 6}, Loss::noisy);
  CHECK(oracles().at("dyck")(e) == Tokens{8, 11, 9, 10});
}

TEST_CASE("Dyck scores every closing bracket, chosen among the closing ones, and keeps its depth and length") {
  const auto dyck = tasks().find("dyck").make(Spec::parse("dyck:depth=3,types=2,length=10"), Layout::teacher_forced);
  CHECK(dyck->vocabulary() == 5);
  int deepest = 0;
  for (int n = 0; n < 200; ++n) {
    Rng rng = stream(0, "dyck", n);
    const Example e = dyck->sample(10, rng);
    CHECK(e.candidates == Tokens{2, 3});
    CHECK(e.tokens.size() == 20);
    CHECK(e.targets.back() == 4);
    CHECK(e.scored.size() == 10);
    int depth = 0;
    for (const int token : e.tokens) {
      depth += token < 2 ? 1 : -1;
      REQUIRE(depth >= 0);
      deepest = std::max(deepest, depth);
    }
    CHECK(depth == 0);
  }
  CHECK(deepest == 3);
}

TEST_CASE("conflicting options are refused with what to change") {
  const auto [spec, message] = GENERATE(table<std::string, std::string>({
      {"mqar:length=64,pairs=17",
       "task 'mqar': pairs 17 needs a length of 68 at least, not 64; lower it or raise length"},
      {"mqar:length=63", "task 'mqar': length 63 is odd; keys and values need an even one"},
      {"mqar:vocabulary=8",
       "task 'mqar': pairs 4 needs more keys than the 3 of vocabulary 8; lower it or raise vocabulary"},
      {"count_word_last_sentence:words=2..3",
       "task 'count_word_last_sentence': largest 4 does not fit into a sentence of words 2..3; lower it or raise "
       "words"},
      {"ith_last_sentence:length=3..6",
       "task 'ith_last_sentence': farthest 4 needs more than 3 sentences; lower it or raise length"},
      {"induction_heads:farthest=1",
       "task 'induction_heads': farthest is 1, but the shortest distance is 2; 0 is any"},
      {"mad_fuzzy_in_context_recall:key=8",
       "task 'mad_fuzzy_in_context_recall': key 8 needs more ids than the 7 of vocabulary 15; shorten it or raise "
       "vocabulary"},
      {"mad_fuzzy_in_context_recall:value=9",
       "task 'mad_fuzzy_in_context_recall': value 9 needs more ids than the 8 of vocabulary 15; shorten it or "
       "raise vocabulary"},
      {"mad_fuzzy_in_context_recall:length=17",
       "task 'mad_fuzzy_in_context_recall': length 17 cannot hold 3 pairs of 6 tokens; raise it or shorten key or "
       "value"},
  }));
  const Spec parsed = Spec::parse(spec);
  CHECK_THROWS_WITH(tasks().find(parsed.name).make(parsed, Layout::teacher_forced), message);
}
