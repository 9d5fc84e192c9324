// Tests path-star with published graphs, and graph reachability with worked examples.
#include <cctype>
#include <cstddef>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include "tasks/registry.h"
#include "tests/catch.h"
#include "tests/tasks/text_task.h"

using namespace posbench;

namespace {

std::string reversed_words(const std::string& text) {
  std::istringstream words(text);
  std::string result;
  for (std::string word; words >> word;) result = word + (result.empty() ? "" : " ") + result;
  return result;
}

}  // namespace

TEST_CASE("path-star answers graphs of the released data, with two and five arms") {
  for (const std::string line : {"2,8|5,2|5,9|9,3/5,8=5,2,8", "1,6|1,5|5,3|6,2/1,2=1,6,2",
                                 "32,3|16,12|3,19|32,34|34,6|6,16|19,47|47,28/32,12=32,34,6,16,12",
                                 "17,12|22,28|49,17|9,24|49,9|13,7|12,22|24,13/49,7=49,9,24,13,7",
                                 "9,32|4,46|25,37|10,25|0,43|10,9|10,7|10,0|10,4|7,48/10,32=10,9,32"}) {
    std::string words;
    for (const char c : line) {
      words += c == ',' ? std::string(" ") : std::isdigit(c) ? std::string(1, c) : " " + std::string(1, c) + " ";
    }
    const size_t equals = words.find('=');
    const TextTask task("path_star");
    const std::string answer = words.substr(equals + 2);
    const std::string arm = task.answer(words.substr(0, equals + 1), static_cast<int>(task.ids(answer).size()));
    CHECK(reversed_words(arm) == answer);
  }
}

TEST_CASE("path-star forwards answers the same arm from its start") {
  const TextTask task("path_star:reversed=false");
  for (int n = 0; n < 100; ++n) {
    const Example e = task.draw(5, n);
    CHECK(task.answer(task.question(e) + " =", 5) == reversed_words(task.answer(e)));
  }
}

TEST_CASE("graph reachability: the vertex that is asked for has the same number of edges in both answers") {
  const TextTask task("graph_reachability:length=3");
  std::map<std::string, std::set<int>> edges;  // by answer, the edges that begin at the vertex
  for (int n = 0; n < 500; ++n) {
    const Example e = task.draw(3, n);
    const Tokens read(e.tokens.begin(), e.tokens.begin() + e.scored.front());
    int begins = 0;
    for (size_t t = 0; t + 3 < read.size(); t += 3) begins += read[t] == read.back();
    edges[task.answer(e)].insert(begins);
  }
  CHECK(edges["yes"] == std::set{0, 1});
  CHECK(edges["no"] == std::set{0, 1});
}
