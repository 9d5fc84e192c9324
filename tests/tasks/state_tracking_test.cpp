// Tests the state-tracking tasks with published and worked examples.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <map>
#include <numeric>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "harness/check/oracles.h"
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

TEST_CASE("PosGen of the published sizes has the distance of the far token") {
  const std::map<std::string, Tokens> distances{
      {"recurrent", {4, 4, 4, 4, 4}}, {"cot", {4, 5, 6, 7, 8}}, {"semirecurrent", {4, 5, 5, 6, 6}}};
  for (const auto& [form, back] : distances) {
    const TextTask task("posgen:length=64,modulus=17,form=" + form);
    CHECK(task.task().vocabulary() == 17);
    CHECK(task.draw(9).distances == back);
    const TextTask unseen("posgen:length=256,modulus=17,scored_from=64,form=" + form);
    const Example e = unseen.draw(256);
    CHECK(e.scored.size() == 192);
    CHECK(e.scored.front() == 63);  // whose target is token 64, the first that is never trained
  }
}

TEST_CASE("the walks of navigation always return") {
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

TEST_CASE("words of integers add up modulo their number") {
  const Example sums = TextTask("group_word:group=z60").draw(30);
  int sum = 0;
  for (size_t t = 1; t < sums.tokens.size(); ++t) {
    sum = (sum + sums.tokens[t]) % 60;
    CHECK(sums.targets[t] == sum);
  }
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

TEST_CASE("half of the words are the identity, and words consist of generators and their inverses") {
  const std::map<std::string, std::set<std::string>> generators{{"s3", {"213", "231", "312"}},
                                                                {"s4", {"2134", "2341", "4123"}},
                                                                {"s5", {"21345", "23451", "51234"}},
                                                                {"a5", {"23145", "31245", "23451", "51234"}}};
  for (const auto& [group, expected] : generators) {
    CAPTURE(group);
    const TextTask task("group_word:answer=identity,symbols=generators,length=2..12,group=" + group);
    std::set<std::string> symbols;
    int identities = 0;
    for (int n = 0; n < 400; ++n) {
      const Example e = task.draw(2 + n % 11, n);
      CHECK(e.length == (2 + n % 11) / 2 * 2);
      const std::string identity = task.task().token_text(0);
      std::string where = identity;
      for (size_t t = 1; t < e.tokens.size(); ++t) {
        const std::string element = task.task().token_text(e.tokens[t]);
        symbols.insert(element);
        for (char& point : where) point = element[point - '1'];
      }
      CHECK(task.answer(e) == (where == identity ? "yes" : "no"));
      identities += where == identity;
    }
    CHECK(symbols == expected);
    CHECK(std::abs(identities - 200) < 50);
  }
}

TEST_CASE("words of all elements of a group may be asked for the identity, and words of generators for products") {
  const TextTask elements("group_word:answer=identity,length=4,group=s3"),
      products("group_word:symbols=generators");
  std::map<std::string, int> answers;
  for (int n = 0; n < 300; ++n) ++answers[elements.answer(elements.draw(4, n))];
  CHECK(std::abs(answers["yes"] - 150) < 45);
  const Example e = products.draw(12);
  CHECK(oracles().at("group_word")(e) == scored_answers(e));
}

namespace {

/// Returns true if the text is a word of the language.
bool is_word(const std::string& language, const std::string& text) {
  const auto matches = [&text](const char* expression) { return std::regex_match(text, std::regex(expression)); };
  const auto count = [&text](char symbol) { return std::ranges::count(text, symbol); };
  if (language == "tomita1") return matches("1*");
  if (language == "tomita2") return matches("(10)*");
  if (language == "tomita3") return !std::regex_search(text, std::regex("(^|0)1(11)*0(00)*(1|$)"));
  if (language == "tomita4") return text.find("000") == std::string::npos;
  if (language == "tomita5") return count('0') % 2 == 0 && count('1') % 2 == 0;
  if (language == "tomita6") return (count('0') - count('1')) % 3 == 0;
  if (language == "tomita7") return matches("0*1*0*1*");
  if (language == "aa_star") return matches("(aa)*");
  if (language == "aaaa_star") return matches("(aaaa)*");
  if (language == "abab_star") return matches("(abab)*");
  if (language == "aa_bb_cc_dd_ee") return matches("a+b+c+d+e+");
  if (language == "ab_d_bc") return matches("[ab]*d[bc]*");
  if (language == "012_02") return matches("[012]*02*");
  int open = 0, deepest = 0, least = 0;  // d2 to d12
  for (const char symbol : text) {
    open += symbol == 'a' ? 1 : -1;
    deepest = std::max(deepest, open);
    least = std::min(least, open);
  }
  return open == 0 && least == 0 && deepest <= std::stoi(language.substr(1));
}

/// Returns all words of up to `length` symbols and their prefixes.
std::set<std::string> prefixes_of_words(const std::string& language, const std::string& symbols, size_t length) {
  std::set<std::string> prefixes;
  std::vector<std::string> texts{""};
  for (size_t n = 0; n < texts.size(); ++n) {
    const std::string text = texts[n];
    if (is_word(language, text)) {
      for (size_t end = 0; end <= text.size(); ++end) prefixes.insert(text.substr(0, end));
    }
    if (text.size() < length) {
      for (const char symbol : symbols) texts.push_back(text + symbol);
    }
  }
  return prefixes;
}

}  // namespace

TEST_CASE("regular languages answer rows of the data of the formal language suite") {
  const auto [language, word, sets] = GENERATE(table<std::string, std::string, std::string>(
      {{"tomita1", "1", "{1$}"},
       {"tomita2", "1 0", "{0} {1$}"},
       {"tomita4", "0 1 0 0", "{01$} {01$} {01$} {1$}"},
       {"tomita5", "0 0", "{01} {01$}"},
       {"tomita6", "0 1", "{01} {01$}"},
       {"tomita7", "0 0 0 0 1 0 0 0 0 0 0 0 0 1 1 1 1",
        "{01$} {01$} {01$} {01$} {01$} {01$} {01$} {01$} {01$} {01$} {01$} {01$} {01$} {1$} {1$} {1$} {1$}"},
       {"aa_star", "a a a a", "{a} {a$} {a} {a$}"},
       {"aaaa_star", "a a a a", "{a} {a} {a} {a$}"},
       {"abab_star", "a b a b", "{b} {a} {b} {a$}"},
       {"d2", "a a b a b b a a b b", "{ab} {b} {ab} {b} {ab} {a$} {ab} {b} {ab} {a$}"},
       {"d3", "a a b b a b a b", "{ab} {ab} {ab} {a$} {ab} {a$} {ab} {a$}"},
       {"d4", "a a a a b a", "{ab} {ab} {ab} {b} {ab} {b}"},  // the beginning of a word
       {"ab_d_bc", "a a d", "{abd} {abd} {bc$}"},
       {"ab_d_bc", "d b", "{bc$} {bc$}"},
       {"012_02", "1 0 2 2", "{012} {012$} {012$} {012$}"}}));
  CAPTURE(language);
  Tokens scored(static_cast<size_t>(std::ranges::count(word, ' ')) + 1);
  std::iota(scored.begin(), scored.end(), 1);
  CHECK(TextTask("regular:language=" + language).answers(language + " " + word, scored) == sets);
}

TEST_CASE("the symbols that may follow a prefix are those that words have there") {
  const auto [language, symbols, length] =
      GENERATE(table<std::string, std::string, int>({{"tomita1", "1", 9},
                                                     {"tomita2", "01", 9},
                                                     {"tomita3", "01", 9},
                                                     {"tomita4", "01", 9},
                                                     {"tomita5", "01", 9},
                                                     {"tomita6", "01", 9},
                                                     {"tomita7", "01", 9},
                                                     {"aa_star", "a", 12},
                                                     {"aaaa_star", "a", 12},
                                                     {"abab_star", "ab", 12},
                                                     {"d2", "ab", 10},
                                                     {"d3", "ab", 10},
                                                     {"d4", "ab", 10},
                                                     {"d12", "ab", 10},
                                                     {"ab_d_bc", "abcd", 6},
                                                     {"012_02", "012", 7},
                                                     {"aa_bb_cc_dd_ee", "abcde", 7}}));
  INFO(language);
  const std::set<std::string> prefixes = prefixes_of_words(language, symbols, length);
  const TextTask task("regular:language=" + language);
  for (int n = 0; n < 300; ++n) {
    const Example e = task.draw(4, n);
    REQUIRE(oracles().at("regular")(e) == scored_answers(e));
    std::string prefix;
    for (const int t : e.scored) {
      prefix += task.text({e.tokens[t]});
      // A word of this length has room for what must follow.
      if (language == "aa_bb_cc_dd_ee" && prefix.size() > 2) break;
      std::string set;
      for (const char symbol : symbols) set += prefixes.contains(prefix + symbol) ? std::string(1, symbol) : "";
      set += is_word(language, prefix) ? "$" : "";
      REQUIRE(task.text({e.targets[t]}) == "{" + set + "}");
    }
  }
}

TEST_CASE("every language draws words of every state, and the oracle agrees at three times the trained length") {
  const std::map<std::string, size_t> num_answers{
      {"tomita1", 1}, {"tomita2", 2}, {"tomita3", 2},   {"tomita4", 2},        {"tomita5", 2}, {"tomita6", 2},
      {"tomita7", 2}, {"aa_star", 2}, {"aaaa_star", 2}, {"abab_star", 3},      {"d2", 3},      {"d3", 3},
      {"d4", 3},      {"d12", 3},     {"ab_d_bc", 2},   {"aa_bb_cc_dd_ee", 5}, {"012_02", 2}};
  for (const auto& [language, expected] : num_answers) {
    INFO(language);
    const TextTask task("regular:language=" + language);
    std::set<int> answers;
    for (int n = 0; n < 100; ++n) {
      const Example e = task.draw(n % 2 == 0 ? 32 : 96, n);
      REQUIRE(oracles().at("regular")(e) == scored_answers(e));
      for (const int answer : scored_answers(e)) answers.insert(answer);
    }
    CHECK(answers.size() == expected);
    CHECK(task.task().answers() == static_cast<int>(expected));
  }
}
