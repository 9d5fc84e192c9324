// Tests tasks that are composed of two.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/catch.h"
#include "tests/tasks/text_task.h"

using namespace posbench;

namespace {

/// Checks that the last token is `?`, that its target follows the query token of the result in the second
/// question, and that its evidence is there.
void check_recall(const TextTask& task, const Example& e, int key) {
  const int query = static_cast<int>(e.tokens.size()) - 1;
  CHECK(e.scored == std::vector<int>{query});
  CHECK(task.text({e.tokens.back()}) == "?");
  const auto found = std::ranges::find(e.tokens, key);
  REQUIRE(found != e.tokens.end());
  CHECK(e.targets[query] == found[1]);
  CHECK(e.evidence == std::vector<int>{static_cast<int>(found - e.tokens.begin()) + 1});
}

}  // namespace

TEST_CASE("then joins the first question and the second, whose query is hidden") {
  const TextTask task("then:train_on=answer"), first("cycle_navigation");
  for (int n = 0; n < 50; ++n) {
    const Example e = task.draw(6, n);
    const std::string steps = task.text({e.tokens.begin(), e.tokens.begin() + 6});
    check_recall(task, e, 1 + std::stoi(first.answer(steps + " _")));
    CHECK(task.text({e.tokens[6]}) == "_'");
    CHECK(std::ranges::count(e.targets, kIgnore) == static_cast<int>(e.targets.size()) - 1);
    CHECK(e.segments.back() > e.segments.front());
  }
}

TEST_CASE("then asks about the last of several results, in the order of their ids") {
  const TextTask task("then:of=(group_word:group=s3,mqar:vocabulary=14,pairs=6),length=4");
  const std::map<std::string, int> keys{{"123", 1}, {"132", 2}, {"213", 3}, {"231", 4}, {"312", 5}, {"321", 6}};
  std::set<int> used;
  for (int n = 0; n < 200; ++n) {
    const Example e = task.draw(4, n);
    const int result = e.targets[4];
    const int key = keys.at(task.text({result}));
    used.insert(key);
    check_recall(task, e, key);
    CHECK(std::ranges::count(e.targets, kIgnore) == static_cast<int>(e.targets.size()) - 5);
  }
  CHECK(used.size() == 6);
}

TEST_CASE("then takes a first task with questions inside the sequence") {
  const TextTask task("then:of=(flip_flop,mqar:vocabulary=6,pairs=2),length=8,second_length=8,train_on=answer");
  for (int n = 0; n < 50; ++n) {
    const Example e = task.draw(8, n);
    const auto asked = std::find_if(e.tokens.begin(), e.tokens.end(), [](int token) { return token < 6; });
    CHECK(task.text({asked[-1]}) == "r");
  }
}

TEST_CASE("then asks with every key equally often if the results are uniform") {
  const TextTask task("then:of=(parity_check,mqar:vocabulary=6,pairs=2),length=5,second_length=8");
  std::map<int, int> counts;
  for (int n = 0; n < 2000; ++n) {
    const Example e = task.draw(5, n);
    ++counts[e.tokens[e.evidence[0] - 1]];
  }
  CHECK(counts.size() == 2);
  CHECK(counts[1] > 900);
  CHECK(counts[1] < 1100);
}
