// Tests the retrieval tasks with published and worked examples.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "harness/check/oracles.h"
#include "tasks/registry.h"
#include "tests/catch.h"
#include "tests/tasks/text_task.h"

using namespace posbench;

TEST_CASE("indirect indexing has strings of 20 to 40 distinct letters, and all shifts of -15 to 15") {
  const TextTask task("indirect_indexing");
  CHECK(task.task().vocabulary() == 2 * 26 + 10 + 3);
  std::set<int> letters, shifts;
  for (int n = 0; n < 5000; ++n) {
    const int length = 20 + n % 21;
    const Example e = task.draw(length, n);
    const std::set<int> string(e.tokens.begin(), e.tokens.begin() + length);
    REQUIRE(static_cast<int>(string.size()) == length);
    letters.insert(string.begin(), string.end());
    shifts.insert(task.task().token_text(e.tokens[length + 3]) == "-" ? -e.distances[0] : e.distances[0]);
  }
  CHECK(letters.size() == 52);
  CHECK(shifts.size() == 31);
  CHECK(*shifts.begin() == -15);
}

TEST_CASE("index retrieval answers the index of an item, counted from either end") {
  const TextTask index("index_retrieval:query=index,from=both");
  for (int n = 0; n < 200; ++n) {
    const Example e = index.draw(4 + n % 17, n);
    CHECK(index.answer(index.question(e) + " =") == index.answer(e));
    CHECK(index.answer(e) == std::to_string(e.distances[0]));
  }
}

TEST_CASE("set disjointness: both orders have the sizes of their sets and one common element") {
  for (const std::string first : {"short", "long"}) {
    const TextTask task("set_disjointness:first=" + first);
    const int first_size = first == "short" ? 4 : 10;
    for (int n = 0; n < 200; ++n) {
      const Example e = task.draw(10, n);
      CHECK(task.task().token_text(e.tokens[first_size]) == ";");
      const std::set<int> elements(e.tokens.begin(), e.tokens.end());
      CHECK(elements.size() == 4 + 10 - 1 + 2);  // one is in both sets, and there are two signs
      CHECK(e.targets[e.scored[0]] == e.tokens[e.evidence[0]]);
    }
  }
}

TEST_CASE("n-back recalls the token n positions before") {
  for (const int steps : {1, 5}) {
    const TextTask back(fmt::format("n_back:steps={}", steps));
    const Example e = back.draw(32);
    CHECK(static_cast<int>(e.scored.front()) == steps);
    for (const int t : e.scored) CHECK(e.targets[t] == e.tokens[t - steps]);
  }
}

TEST_CASE("n-gram lookup finds the tokens after the key, also if it is given before the string") {
  const TextTask prefix("ngram_lookup:form=prefix");
  for (int n = 0; n < 200; ++n) {
    const Example e = prefix.draw(20, n);
    std::string key = prefix.text({e.tokens.begin(), e.tokens.begin() + 3});
    const std::string string = prefix.text({e.tokens.begin() + 4, e.tokens.begin() + 24});
    CHECK(string.find(key + " " + prefix.answer(e)) != std::string::npos);
    CHECK(string.find(key, string.find(key) + 1) == std::string::npos);
    CHECK(e.tokens[e.scored[0] - e.distances[0]] == e.targets[e.scored[0]]);
  }
}

TEST_CASE("the option which of last-x retrieval queries an earlier X, and changes nothing else") {
  const TextTask last("last_x_retrieval"), third("last_x_retrieval:which=3"),
      few("last_x_retrieval:which=3,rho=0");
  for (int n = 0; n < 300; ++n) {
    for (const TextTask* task : {&third, &few}) {
      const Example e = task->draw(32, n);
      Tokens payloads, items;
      for (int item = 31; item >= 0; --item) {
        if (e.tokens[2 * item] != 1) continue;
        payloads.push_back(e.tokens[2 * item + 1]);
        items.push_back(item);
      }
      REQUIRE(payloads.size() >= 3);
      CHECK(e.targets.back() == payloads[2]);
      CHECK(e.distances == Tokens{31 - items[2]});
    }
    const Example one = last.draw(32, n), other = third.draw(32, n);
    const bool enough = std::count(one.tokens.begin(), one.tokens.end(), 1) >= 3;
    if (enough) CHECK(one.tokens == other.tokens);
  }
}

TEST_CASE("last-x retrieval can query an earlier X in every split") {
  for (const TaskInfo::Split& split : tasks().find("last_x_retrieval").info.splits) {
    const auto task = make_task(Spec::parse("last_x_retrieval:which=8"), split, Layout::slots);
    for (int n = 0; n < 100; ++n) {
      Rng rng = make_rng(0, "which", n);
      const Example e = task->sample(task->lengths().draw(rng), rng);
      REQUIRE(std::count(e.tokens.begin(), e.tokens.end(), 1) >= 8);
      CHECK(e.targets.back() == e.tokens[e.tokens.size() - 2 - 2 * e.distances[0]]);
    }
  }
}

namespace {

constexpr int kX = 1;

/// Returns the index of the last X item of an example with `length` items.
int last_x(const Example& e, int length) {
  int item = length - 1;
  while (e.tokens[2 * item] != kX) --item;
  return item;
}

}  // namespace

TEST_CASE("last-x retrieval: the distances of the option occur equally often") {
  const auto task = make("last_x_retrieval:distance=0..7");
  std::map<int, int> counts;
  for (int n = 0; n < 4000; ++n) {
    Rng rng = make_rng(0, "distances", n);
    ++counts[31 - last_x(task->sample(32, rng), 32)];
  }
  REQUIRE(counts.size() == 8);
  for (int distance = 0; distance < 8; ++distance)
    CHECK(std::abs(counts[distance] - 500) < 105);  // five standard deviations
}

TEST_CASE("last-x retrieval: no other item tells the payload of the queried one") {
  constexpr int kSamples = 20000, kNear = 6;
  const auto task = make("last_x_retrieval");
  std::map<int, std::pair<int, int>>
      equal;  // by the offset from the queried item: payloads equal to the answer, and all
  for (int n = 0; n < kSamples; ++n) {
    Rng rng = make_rng(0, "payloads", n);
    const Example e = task->sample(32, rng);
    const int queried = last_x(e, 32);
    for (int offset = -kNear; offset <= kNear; ++offset) {
      if (offset == 0 || queried + offset < 0 || queried + offset >= 32) continue;
      equal[offset].first += e.tokens[2 * (queried + offset) + 1] == e.targets.back();
      ++equal[offset].second;
    }
  }
  for (const auto& [offset, counts] : equal) {
    CAPTURE(offset);
    const double all = counts.second, chance = 1.0 / 8;
    CHECK(std::abs(counts.first / all - chance) < 5 * std::sqrt(chance * (1 - chance) / all));
  }
}

TEST_CASE("needles have the forms of RULER and of passkey retrieval") {
  struct Form {
    std::string spec;
    int needles, answers;  // needles in the haystack, digits of the answer
  };
  const Form form = GENERATE(values<Form>({{"needle:keys=1", 1, 2},
                                           {"needle", 4, 2},
                                           {"needle:keys=16,length=0", 16, 2},
                                           {"needle:keys=32,names=32,length=0", 32, 2},
                                           {"needle:keys=1,values=4", 4, 8},
                                           {"needle:queries=4", 4, 8},
                                           {"needle:keys=1,names=1,digits=5,haystack=noise", 1, 5}}));
  const TextTask task(form.spec);
  const int colon = task.ids(":").front();
  for (int n = 0; n < 100; ++n) {
    const Example e = task.draw(task.task().lengths().max(), n);
    REQUIRE(std::ranges::count(e.tokens, colon) == form.needles);
    REQUIRE(static_cast<int>(e.scored.size()) == form.answers);
    REQUIRE(oracles().at("needle")(e) == scored_answers(e));
    REQUIRE(oracles().at("needle").distances(e) == e.distances);
  }
}

TEST_CASE("a passkey has one key, and the words of its haystack are in a fixed order") {
  const TextTask task("needle:keys=1,names=1,haystack=noise,words=3");
  for (int n = 0; n < 50; ++n) {
    const Example e = task.draw(6, n);
    std::string words, text = task.question(e);
    CHECK(text.ends_with("? k0"));
    for (size_t at = text.find('w'); at != std::string::npos; at = text.find('w', at + 1))
      words += text.substr(at, 2);
    CHECK(words == "w0w1w2w0w1w2");
  }
}

TEST_CASE("needles are at all depths equally often") {
  const TextTask task("needle:keys=1");
  std::map<int, int> counts;
  for (int n = 0; n < 2000; ++n) ++counts[task.draw(995, n).distances.front()];
  CHECK(counts.size() == 10);
  for (const auto& [tenth, count] : counts) {
    INFO(tenth);
    CHECK(count > 140);
    CHECK(count < 260);
  }
}
