// The tasks of the reference's sections 7.3 and 7.6: their worked examples, and forms that the oracles, which are for
// the defaults only, do not cover.
#include <algorithm>
#include <numeric>

#include "harness/verify/oracles.h"
#include "tasks/registry.h"
#include "tests/catch.h"

using namespace posbench;

namespace {

struct Drawn {
  std::unique_ptr<Task> task;
  Example example;
  Tokens question, answers;  // the answers at the scored positions
};

Drawn draw(const std::string& spec, int length, int index = 0, Layout layout = Layout::teacher_forced) {
  const Spec parsed = Spec::parse(spec);
  Drawn drawn{.task = tasks().find(parsed.name).make(parsed, layout)};
  Rng rng = stream(0, "forms", index);
  drawn.example = drawn.task->sample(length, rng);
  const Example& e = drawn.example;
  drawn.question.assign(e.tokens.begin(), e.tokens.begin() + e.scored.front());
  for (const int t : e.scored) drawn.answers.push_back(e.targets[t]);
  return drawn;
}

Tokens with(int last, Tokens tokens) {
  tokens.push_back(last);
  return tokens;
}

Tokens joined(Tokens a, const Tokens& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

int number(const Tokens& digits) {
  return std::accumulate(digits.begin(), digits.end(), 0, [](int n, int digit) { return 10 * n + digit; });
}

/// The numbers between tokens that are no digits, most significant digit first.
std::vector<int> numbers(const Tokens& tokens) {
  std::vector<int> result;
  Tokens digits;
  for (const int token : with(10, tokens)) {
    if (token < 10) {
      digits.push_back(token);
    } else if (!digits.empty()) {
      result.push_back(number(digits));
      digits.clear();
    }
  }
  return result;
}

}  // namespace

TEST_CASE("length generalization: the worked examples") {
  const auto ask = [](const std::string& task, Tokens question, int blank) {
    const int target_position = static_cast<int>(question.size());
    return oracles().at(task)(Example{.tokens = with(blank, std::move(question)), .scored = {target_position}});
  };
  CHECK(ask("copy", {3, 7, 7, 1}, 16) == Tokens{3, 7, 7, 1, 16});
  CHECK(ask("reverse", {3, 7, 7, 1}, 16) == Tokens{1, 7, 7, 3, 16});
  CHECK(ask("addition", {5, 1, 10, 7, 9, 2}, 11) == Tokens{2, 1, 3, 11});
  CHECK(ask("polynomial", {13, 11, 14, 3, 13, 2, 14, 10, 13, 0}, 15) == Tokens{1});
  CHECK(ask("summation", {4, 7, 1}, 10) == Tokens{2});
  CHECK(ask("sorting", {7, 3, 11, 3}, 20) == Tokens{3, 3, 7, 11, 20});
  CHECK(ask("lego", {1, 26, 28, 29, 3, 27, 1, 29, 0, 27, 3, 29, 2, 26, 0, 29, 3}, 30) == Tokens{27});
}

TEST_CASE("copy has the forms of the paper") {
  for (int n = 0; n < 50; ++n) {
    const Drawn twice = draw("copy:times=2", 5, n);
    CHECK(twice.answers == joined(with(16, twice.question), with(16, twice.question)));

    const Drawn repeat = draw("copy:form=repeat", 5, n), doubled = draw("copy:form=repeat,times=2", 5, n);
    CHECK(repeat.question == Tokens(5, repeat.question[0]));
    CHECK(repeat.answers == with(16, repeat.question));
    CHECK(doubled.answers == with(16, Tokens(10, doubled.question[0])));

    const Drawn replace = draw("copy:form=replace", 5, n);
    CHECK(replace.question[0] != replace.question[1]);
    CHECK(Tokens(replace.question.begin() + 1, replace.question.end()) == Tokens(5, replace.question[1]));
    CHECK(replace.answers == with(16, Tokens(5, replace.question[0])));
  }
}

TEST_CASE("slots do not show how often a token is repeated") {
  const Example e = draw("copy:form=repeat", 5, 0, Layout::slots).example;
  CHECK(e.tokens.size() == 5 + 12);
  CHECK(e.scored == Tokens{5, 6, 7, 8, 9, 10});
  for (size_t t = 10; t < e.targets.size(); ++t) CHECK(e.targets[t] == 16);
}

TEST_CASE("reverse has the forms of the paper") {
  const Drawn once = draw("reverse", 6), twice = draw("reverse:form=twice", 6),
              then_copy = draw("reverse:form=then_copy", 6);
  CHECK(twice.answers == joined(once.answers, once.answers));
  CHECK(then_copy.answers == joined(once.answers, with(16, once.question)));
}

TEST_CASE("addition has both orders of digits, with and without padding, and the position of each digit") {
  for (int n = 0; n < 50; ++n) {
    const Drawn plain = draw("addition:reversed=none", 5, n);
    const std::vector<int> operands = numbers(plain.question);
    REQUIRE(operands.size() == 2);
    CHECK(std::max(operands[0], operands[1]) >= 10000);
    CHECK(numbers(plain.answers) == std::vector<int>{operands[0] + operands[1]});

    const Drawn padded = draw("addition:reversed=none,pad=true", 5, n);
    CHECK(padded.question.size() == 11);
    CHECK(padded.answers.size() == 7);
    CHECK(numbers(padded.question) == operands);
    CHECK(numbers(padded.answers) == numbers(plain.answers));

    const Drawn answer = draw("addition:reversed=answer", 5, n), all = draw("addition", 5, n);
    CHECK(answer.question == plain.question);
    CHECK(answer.answers == all.answers);
    CHECK(numbers(Tokens(all.answers.rbegin(), all.answers.rend())) == numbers(plain.answers));
  }
}

TEST_CASE("the digits of an addition have their positions, except where they would show the length of the answer") {
  int index = 0;  // of two digits and three, with a sum of three
  while (draw("addition", 3, index).question.size() != 6 || draw("addition", 3, index).question[2] != 10 ||
         draw("addition", 3, index).answers.size() != 4) {
    ++index;
  }
  const auto positions = [&](const std::string& spec, Layout layout) {
    return draw(spec, 3, index, layout).example.digit_positions;
  };
  CHECK(positions("addition", Layout::teacher_forced) == Tokens{1, 2, 0, 1, 2, 3, 0, 1, 2, 3});
  CHECK(positions("addition", Layout::slots) == Tokens{1, 2, 0, 1, 2, 3, 1, 2, 3, 4, 5});
  CHECK(positions("addition:reversed=answer", Layout::teacher_forced) == Tokens{2, 1, 0, 3, 2, 1, 0, 1, 2, 3});
  CHECK(positions("addition:reversed=none", Layout::teacher_forced) == Tokens{2, 1, 0, 3, 2, 1, 0, 0, 0, 0});
  CHECK(positions("addition:reversed=none", Layout::slots) == Tokens{2, 1, 0, 3, 2, 1, 0, 0, 0, 0, 0});
  CHECK(positions("addition:reversed=none,pad=true", Layout::teacher_forced) == Tokens{3, 2, 1, 0, 3, 2, 1, 0, 4, 3, 2, 1});
  CHECK(positions("addition:reversed=none,pad=true", Layout::slots) == Tokens{3, 2, 1, 0, 3, 2, 1, 4, 3, 2, 1, 0});
}

TEST_CASE("every pair of digit counts with the longer one given is equally likely in addition") {
  std::map<std::pair<int, int>, int> pairs;
  for (int n = 0; n < 7000; ++n) {
    const Tokens question = draw("addition", 4, n).question;
    const int first = static_cast<int>(std::find(question.begin(), question.end(), 10) - question.begin());
    ++pairs[{first, static_cast<int>(question.size()) - 1 - first}];
  }
  CHECK(pairs.size() == 7);
  for (const auto& [digits, count] : pairs) {
    CHECK(std::max(digits.first, digits.second) == 4);
    CHECK(count == Approx(1000).margin(150));
  }
}

TEST_CASE("sorting of numbers sorts them, digit by digit") {
  for (int n = 0; n < 50; ++n) {
    const Drawn drawn = draw("sorting:form=multi", 6, n);
    std::vector<int> items = numbers(drawn.question);
    CHECK(items.size() == 6);
    CHECK(*std::min_element(items.begin(), items.end()) >= 10);
    std::sort(items.begin(), items.end());
    CHECK(numbers(drawn.answers) == items);
    CHECK(drawn.answers.back() == 11);
  }
}

TEST_CASE("lego with shuffled clauses keeps its answer, and queries the second half of the chain") {
  for (int n = 0; n < 100; ++n) {
    const Drawn drawn = draw("lego:shuffled=true", 7, n);
    CHECK(drawn.answers == oracles().at("lego")(drawn.example));
    CHECK(drawn.example.distances[0] >= 5);
    CHECK(drawn.example.distances[0] <= 7);
  }
}

TEST_CASE("group words multiply from left to right") {
  const Drawn s5 = draw("group_word:group=s5", 30), z60 = draw("group_word:group=z60", 30);
  CHECK(s5.task->vocabulary() == 121);
  CHECK(s5.answers == oracles().at("group_word")(s5.example));

  int sum = 0;
  for (size_t t = 1; t < z60.example.tokens.size(); ++t) {
    sum = (sum + z60.example.tokens[t]) % 60;
    CHECK(z60.example.targets[t] == sum);
  }
  CHECK(z60.example.distances.back() == 30);
}

TEST_CASE("the group a4 x z5 is even permutations of four points beside a sum modulo 5") {
  const Drawn drawn = draw("group_word:group=a4xz5", 30);
  CHECK(drawn.task->vocabulary() == 61);
  CHECK(drawn.task->word(0) == "1234/0");
  CHECK(drawn.task->word(6) == "1342/1");
  std::string where = "1234";
  int sum = 0;
  for (size_t t = 1; t < drawn.example.tokens.size(); ++t) {
    const std::string element = drawn.task->word(drawn.example.tokens[t]);
    for (char& point : where) point = element[point - '1'];
    sum = (sum + element[5] - '0') % 5;
    CHECK(drawn.task->word(drawn.example.targets[t]) == fmt::format("{}/{}", where, sum));
  }
}

TEST_CASE("group words: the example of the head comment") {
  const Drawn drawn = draw("group_word", 2);
  const auto id = [&](const std::string& word) {
    int token = 0;
    while (drawn.task->word(token) != word) ++token;
    return token;
  };
  const Example e{.tokens = {60, id("23145"), id("21354")}, .scored = {1, 2}};
  CHECK(oracles().at("group_word")(e) == Tokens{id("23145"), id("13254")});
}
