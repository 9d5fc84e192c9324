// Tests the tasks of associative recall with published and worked examples.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <set>
#include <string>

#include "harness/check/oracles.h"
#include "tasks/registry.h"
#include "tests/catch.h"
#include "tests/tasks/text_task.h"

using namespace posbench;

TEST_CASE("multi-query associative recall queries every key once, among zeros or random ids") {
  for (const std::string filler : {"zero", "random"}) {
    const auto mqar = make("mqar:filler=" + filler);
    for (int n = 0; n < 100; ++n) {
      Rng rng = make_rng(0, "mqar", n);
      const Example e = mqar->sample(64, rng);
      std::set<int> queried;
      for (const int t : e.scored) queried.insert(e.tokens[t]);
      CHECK(queried == std::set<int>{e.tokens[0], e.tokens[2], e.tokens[4], e.tokens[6]});
      CHECK((std::count(e.tokens.begin(), e.tokens.end(), 0) == 64 - 3 * 4) == (filler == "zero"));
      CHECK(oracles().at("mqar")(e) == scored_answers(e));
    }
  }
}

TEST_CASE("multi-query associative recall draws one of several numbers of pairs for each sequence") {
  const auto mqar = make("mqar:pairs=2..5,length=64");
  std::set<size_t> pairs;
  for (int n = 0; n < 100; ++n) {
    Rng rng = make_rng(0, "pairs", n);
    const Example e = mqar->sample(64, rng);
    pairs.insert(e.scored.size());
    CHECK(oracles().at("mqar")(e) == scored_answers(e));
  }
  CHECK(pairs == std::set<size_t>{2, 3, 4, 5});
  CHECK_THROWS_WITH(make("mqar:pairs=4..17"),
                    "task 'mqar': pairs 17 needs a length of 68 at least, not 64; lower it or raise length");
}

TEST_CASE("in-context recall scores every value of a key seen before, and the last") {
  for (const std::string name : {"mad_in_context_recall", "mad_noisy_in_context_recall"}) {
    const auto task = make(name);
    for (int n = 0; n < 100; ++n) {
      Rng rng = make_rng(0, name, n);
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
  const auto task = make("mad_fuzzy_in_context_recall:length=18..40,key=1..3,value=1..3");
  for (int n = 0; n < 2000; ++n) {
    Rng rng = make_rng(0, "fuzzy", n);
    const int length = task->lengths().draw(rng);
    const Example e = task->sample(length, rng);
    REQUIRE(static_cast<int>(e.tokens.size()) < length);
    REQUIRE(e.scored.back() == static_cast<int>(e.tokens.size()) - 1);
  }
}

TEST_CASE("memorization maps keys to distinct values, the same in every split") {
  const TaskEntry& entry = tasks().find("mad_memorization");
  std::map<int, int> value;
  std::set<int> values;
  for (const TaskInfo::Split& split : entry.info.splits) {
    const auto task = make_task(Spec{"mad_memorization", {}}, split, Layout::teacher_forced);
    for (int n = 0; n < 100; ++n) {
      Rng rng = make_rng(n, split.name);
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

TEST_CASE(
    "multi-query multi-token recall answers the example in its file, and has the published numbers of pairs") {
  const TextTask task("mqmtar");
  CHECK(task.answer("_ a3 a9 : a1 a7 _ _ _ a9 a3 : a4 a4 _ ? a9 a3 ? a3 a9 =", 4) == "a4 a4 a1 a7");
  for (const auto& [length, pairs] : std::map<int, int>{{32, 4}, {48, 6}, {64, 8}, {1024, 136}}) {
    const TextTask published(fmt::format("mqmtar:alphabet=256,length={}", length));
    const Example e = published.draw(length);
    CHECK(std::count(e.tokens.begin(), e.tokens.end(), 1) == pairs);
    CHECK(std::count(e.tokens.begin(), e.tokens.end(), 2) == 4);
    CHECK(e.scored.front() == pairs * (length / pairs) + 4 * 3);
    CHECK(e.scored.size() == 8);
  }
}

TEST_CASE("repeated recall asks at every key that has enough values before, and nowhere else") {
  for (const int which : {1, 2, 3}) {
    const TextTask task(fmt::format("mqrar:keys=4,which={}", which));
    for (int n = 0; n < 100; ++n) {
      const Example e = task.draw(64, n);
      std::map<int, Tokens> values;
      Tokens scored, answers;
      for (int t = 0; t < 64; t += 2) {
        Tokens& of_key = values[e.tokens[t]];
        if (static_cast<int>(of_key.size()) >= which) {
          scored.push_back(t);
          answers.push_back(of_key.end()[-which]);
        }
        of_key.push_back(e.tokens[t + 1]);
      }
      REQUIRE(values.size() <= 4);
      REQUIRE(e.scored == scored);
      REQUIRE(scored_answers(e) == answers);
    }
  }
}

TEST_CASE("the mean distance of repeated recall depends on the number of keys, and not on the length") {
  const auto mean_distance = [](const TextTask& task, int length) {
    double sum = 0, count = 0;
    for (int n = 0; n < 200; ++n) {
      const Example e = task.draw(length, n);
      for (size_t i = 0; i < e.scored.size(); ++i) {
        if (e.scored[i] < length / 2) continue;  // the beginning has only near values
        sum += e.distances[i];
        ++count;
      }
    }
    return sum / count;
  };
  const TextTask task("mqrar:keys=4"), more_keys("mqrar:keys=8");
  CHECK(std::abs(mean_distance(task, 256) - 7) < 0.3);
  CHECK(std::abs(mean_distance(task, 512) - 7) < 0.3);
  CHECK(std::abs(mean_distance(more_keys, 512) - 15) < 0.6);
}

TEST_CASE("compositional recall: neither key determines the value") {
  const TextTask task("compositional_mqar");
  for (int n = 0; n < 100; ++n) {
    const Example e = task.draw(54, n);
    std::map<int, std::set<int>> values;
    for (int t = 0; t < 12; t += 3) {
      values[e.tokens[t]].insert(e.tokens[t + 2]);
      values[e.tokens[t + 1]].insert(e.tokens[t + 2]);
    }
    CHECK(values.size() == 4);
    for (const auto& [key, of_key] : values) CHECK(of_key.size() == 2);
  }
}

TEST_CASE("stacked recall has one token for each pair of every pass, and one for each question, as in Zoology") {
  const TextTask task("stacked_mqar");
  CHECK(task.answers("k3:v5 k0:v2 k7:v4 k0? k7? k3?", {3, 4, 5}) == "v2 v4 v5");
  for (const int passes : {1, 3}) {
    const Example e = TextTask(fmt::format("stacked_mqar:passes={}", passes)).draw(8);
    CHECK(static_cast<int>(e.tokens.size()) == (passes + 1) * 8);
    CHECK(e.scored.size() == 8);
  }
}
