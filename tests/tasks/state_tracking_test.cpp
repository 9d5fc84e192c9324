// Tests the state-tracking tasks with published and worked examples.
#include <fmt/format.h>

#include <map>
#include <string>

#include "harness/verify/oracles.h"
#include "tasks/parts/examples.h"
#include "tasks/registry.h"
#include "tests/catch.h"
#include "tests/tasks/text_task.h"

using namespace posbench;

TEST_CASE("flip-flop: a read has the bit that was written last") {
  const Example e = predict_next({0, 4, 2, 3, 1, 4, 0, 3, 2, 4, 1, 3}, {4, 10}, Loss::clean);
  CHECK(oracles().at("flip_flop")(e) == Tokens{4, 3});
  CHECK(e.tokens == Tokens{0, 4, 2, 3, 1, 4, 0, 3, 2, 4, 1});
  CHECK(e.targets == Tokens{-1, -1, -1, -1, 4, -1, -1, -1, -1, -1, 3});
}

TEST_CASE("flip-flop trains on every next token if its loss is noisy, and scores only the reads") {
  const auto flip_flop = make("flip_flop:loss=noisy");
  Rng rng = make_rng(0, "noisy");
  const Example e = flip_flop->sample(32, rng);
  CHECK(Tokens(e.targets.begin(), e.targets.end() - 1) == Tokens(e.tokens.begin() + 1, e.tokens.end()));
  for (const int t : e.scored) CHECK(e.tokens[t] == 1);
}

TEST_CASE("PosGen: all three forms of figure 2 of the paper are reproduced") {
  for (const auto& [form, sequence] :
       std::map<std::string, std::string>{{"recurrent", "2 0 3 1 6 3 6 2 3 0 4 2"},
                                          {"cot", "2 0 3 1 6 5 0 6 6 0 0 1"},
                                          {"semirecurrent", "2 0 3 1 6 5 5 2 1 4 1 0"}}) {
    DYNAMIC_SECTION(form) {
      const TextTask task("posgen:modulus=7,form=" + form);
      Example e;
      int n = 0;
      do {
        e = task.draw(12, n++);
      } while (task.question(e) != "2 0 3");  // the fourth token is read at the target position of the fifth
      while (task.text({e.tokens.begin(), e.tokens.begin() + 4}) != "2 0 3 1") e = task.draw(12, n++);
      CHECK(task.text({e.tokens.begin(), e.tokens.begin() + 4}) + " " + task.answer(e) == sequence);
    }
  }
}

TEST_CASE("PosGen has the published sizes, and the distance of the far token") {
  const std::map<std::string, Tokens> distances{
      {"recurrent", {4, 4, 4, 4, 4}}, {"cot", {4, 5, 6, 7, 8}}, {"semirecurrent", {4, 5, 5, 6, 6}}};
  for (const auto& [form, back] : distances) {
    const TextTask task("posgen:form=" + form);
    CHECK(task.task().vocabulary() == 17);
    CHECK(task.task().lengths().text() == "64");
    CHECK(task.draw(9).distances == back);
    const TextTask unseen("posgen:length=256,scored_from=64,form=" + form);
    const Example e = unseen.draw(256);
    CHECK(e.scored.size() == 192);
    CHECK(e.scored.front() == 63);  // whose target is token 64, the first that is never trained
  }
}

TEST_CASE("cumulative parity and majority answer the header examples") {
  CHECK(TextTask("cumulative_parity").answers("^ 1 0 1 1 0", {1, 2, 3, 4, 5}) == "1 1 0 1 1");
  CHECK(TextTask("cumulative_majority").answers("1 0 0 1 1", {0, 1, 2, 3, 4}) == "1 1 0 1 1");
}

TEST_CASE("navigation answers the header example, and its walks always return") {
  CHECK(TextTask("navigation_2d").answers("E o3 E _ W o3 N o7 S", {4, 8}) == "o3 o3");
  const TextTask straight("navigation_2d:size=64,walk=10,length=3");
  for (int n = 0; n < 50; ++n) {
    const Example e = straight.draw(3, n);
    CHECK(e.scored == Tokens{4});
    CHECK(e.targets[4] == e.tokens[1]);
    CHECK(e.distances == Tokens{2});
  }
  const TextTask published("navigation_2d:size=64,walk=1..10,length=128");
  CHECK(published.task().vocabulary() == 4 + 16 + 1);
  CHECK(published.draw(128).tokens.size() == 255);
}

TEST_CASE("words of S3 and S4 multiply from left to right") {
  for (const auto& [group, order] : std::map<std::string, int>{{"s3", 6}, {"s4", 24}}) {
    const TextTask task("group_word:group=" + group);
    CHECK(task.task().vocabulary() == order + 1);
    const Example e = task.draw(30);
    CHECK(task.text(oracles().at("group_word")(e)) == task.answer(e));
    std::string where = task.task().token_text(0);
    for (size_t t = 1; t < e.tokens.size(); ++t) {
      for (char& point : where) point = task.task().token_text(e.tokens[t])[point - '1'];
      CHECK(task.task().token_text(e.targets[t]) == where);
    }
  }
}

TEST_CASE("group words multiply from left to right") {
  const TextTask s5("group_word:group=s5"), z60("group_word:group=z60");
  CHECK(s5.task().vocabulary() == 121);
  const Example e = s5.draw(30), sums = z60.draw(30);
  CHECK(scored_answers(e) == oracles().at("group_word")(e));

  int sum = 0;
  for (size_t t = 1; t < sums.tokens.size(); ++t) {
    sum = (sum + sums.tokens[t]) % 60;
    CHECK(sums.targets[t] == sum);
  }
  CHECK(sums.distances.back() == 30);
}

TEST_CASE("the group a4 x z5 is pairs of an even permutation of four points and a sum modulo 5") {
  const TextTask task("group_word:group=a4xz5");
  CHECK(task.task().vocabulary() == 61);
  CHECK(task.text({0, 6}) == "1234/0 1342/1");
  const Example e = task.draw(30);
  std::string product = "1234";
  int sum = 0;
  for (size_t t = 1; t < e.tokens.size(); ++t) {
    const std::string element = task.text({e.tokens[t]});
    for (char& point : product) point = element[point - '1'];
    sum = (sum + element[5] - '0') % 5;
    CHECK(task.text({e.targets[t]}) == fmt::format("{}/{}", product, sum));
  }
}

TEST_CASE("group words answer the header example") {
  CHECK(TextTask("group_word").answers("begin 23145 21354", {1, 2}) == "23145 13254");
}
