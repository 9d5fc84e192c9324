// Tests the tasks of length generalization: worked examples, and forms that the oracles, which are for the
// defaults only, do not cover.
#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "harness/check/oracles.h"
#include "tasks/parts/examples.h"
#include "tasks/registry.h"
#include "tests/catch.h"
#include "tests/tasks/text_task.h"

using namespace posbench;

namespace {

struct Drawn {
  std::unique_ptr<Task> task;
  Example example;
  Tokens question, answers;  // the answers at the scored positions
};

Drawn draw(const std::string& spec, int length, int index = 0, Layout layout = Layout::teacher_forced) {
  Drawn drawn{.task = make(spec, layout)};
  Rng rng = make_rng(0, "forms", index);
  drawn.example = drawn.task->sample(length, rng);
  const Example& e = drawn.example;
  drawn.question.assign(e.tokens.begin(), e.tokens.begin() + e.scored.front());
  drawn.answers = scored_answers(e);
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

TEST_CASE("the tokens of a unique copy are distinct") {
  const TextTask unique("unique_copy");
  for (int n = 0; n < 100; ++n) {
    const Example e = unique.draw(60, n);
    CHECK(std::set<int>(e.tokens.begin(), e.tokens.begin() + 60).size() == 60);
  }
}

TEST_CASE("majority has no ties, and with two tokens a uniform number of each") {
  const TextTask binary("majority"), letters("majority:symbols=26");
  std::map<int, int> a;
  for (int n = 0; n < 7000; ++n) {
    const Example e = binary.draw(7, n);
    ++a[static_cast<int>(std::count(e.tokens.begin(), e.tokens.end() - 1, 0))];
    const Example other = letters.draw(12, n);
    CHECK(letters.answer(letters.question(other) + " =") == letters.answer(other));
  }
  CHECK(a.size() == 8);
  for (const auto& [zeros, samples] : a) CHECK(samples == Approx(875).epsilon(0.15));
}

TEST_CASE("parity with index hints has the forms of the header comment") {
  for (int n = 0; n < 100; ++n) {
    const TextTask steps("index_hint_parity:hints=0"), alone("index_hint_parity:scratchpad=false");
    const Example e = steps.draw(9, n);
    int parity = 0;
    std::string expected;
    for (int t = 0; t < 9; ++t) expected += std::to_string(parity ^= e.tokens[t]) + " ";
    CHECK(steps.answer(e) == expected + ".");
    const Example f = alone.draw(9, n);
    int ones = 0;
    for (int t = 1; t < 18; t += 2) ones += f.tokens[t];
    CHECK(alone.answer(f) == std::to_string(ones % 2));
  }
}

TEST_CASE("addition with index hints can have carries, no hints, and the most significant digit first") {
  const TextTask carries("index_hint_addition:scratchpad=true,hints=0");
  const TextTask reversed("index_hint_addition:hints=0"), forward("index_hint_addition:reversed=false");
  for (int n = 0; n < 300; ++n) {
    const Example e = carries.draw(6, n);
    int carry = 0;
    Tokens expected;
    for (int position = 6; position >= 0; --position) {
      const int sum = e.tokens[position] + e.tokens[8 + position] + carry;
      carry = sum / 10;
      expected.insert(expected.end(), {sum % 10, carry});
    }
    CHECK(carries.answer(e) == carries.text(expected) + " .");
    Tokens digits;
    for (size_t t = 0; t < expected.size(); t += 2) digits.push_back(expected[t]);
    CHECK(reversed.answer(reversed.draw(6, n)) == reversed.text(digits) + " .");

    const Example f = forward.draw(6, n);
    const std::string backward =
        forward.answer(forward.question(f) + " =", 15);  // the oracle's: hint, digit, ... .
    Tokens pairs = forward.ids(backward), straight;
    for (size_t t = pairs.size() - 1; t >= 2; t -= 2)
      straight.insert(straight.end(), {pairs[t - 2], pairs[t - 1]});
    CHECK(forward.answer(f) == forward.text(straight) + " .");
  }
}

TEST_CASE("the tasks of the length-generalization suite answer their worked examples") {
  const auto ask = [](const std::string& task, Tokens question, int blank) {
    const int target_position = static_cast<int>(question.size());
    return oracles().at(task)(Example{.tokens = with(blank, std::move(question)), .scored = {target_position}});
  };
  CHECK(ask("copy", {3, 7, 7, 1}, 16) == Tokens{3, 7, 7, 1, 16});
  CHECK(ask("reverse", {3, 7, 7, 1}, 16) == Tokens{1, 7, 7, 3, 16});
  CHECK(ask("addition", {5, 1, 10, 7, 9, 2}, 11) == Tokens{2, 1, 3, 11});
  // 653 + 49, 3812 + 98 and 98 + 9907, section 2.1 of arXiv:2405.20671
  CHECK(ask("addition", {3, 5, 6, 10, 9, 4}, 11) == Tokens{2, 0, 7, 11});
  CHECK(ask("addition", {2, 1, 8, 3, 10, 8, 9}, 11) == Tokens{0, 1, 9, 3, 11});
  CHECK(ask("addition", {8, 9, 10, 7, 0, 9, 9}, 11) == Tokens{5, 0, 0, 0, 1, 11});
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

TEST_CASE(
    "the digits of an addition have their positions, except where they would show the length of the answer") {
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
  CHECK(positions("addition:reversed=none,pad=true", Layout::teacher_forced) ==
        Tokens{3, 2, 1, 0, 3, 2, 1, 0, 4, 3, 2, 1});
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

TEST_CASE("sorting with distinct items has each item once") {
  for (int n = 0; n < 50; ++n) {
    const std::vector<int> question = draw("sorting:symbols=8,distinct=true", 8, n).question;
    CHECK(std::set<int>(question.begin(), question.end()) == std::set<int>{0, 1, 2, 3, 4, 5, 6, 7});
    const std::vector<int> items = numbers(draw("sorting:form=multi,distinct=true", 12, n).question);
    CHECK(std::set<int>(items.begin(), items.end()).size() == 12);
    CHECK(*std::min_element(items.begin(), items.end()) >= 10);
    CHECK(*std::max_element(items.begin(), items.end()) <= 9999);
  }
}

TEST_CASE("lego with shuffled clauses keeps its answer, and queries the second half of the chain") {
  for (int n = 0; n < 100; ++n) {
    const Drawn drawn = draw("lego:answer=one,shuffled=true", 7, n);
    CHECK(drawn.answers == oracles().at("lego")(drawn.example));
    CHECK(drawn.example.distances[0] >= 5);
    CHECK(drawn.example.distances[0] <= 7);
  }
}

TEST_CASE("lego answers the signs of all variables in the order of the chain") {
  CHECK(oracles().at("lego")(Example{.tokens = {1, 26, 3, 29, 3, 27, 0, 29, 0, 27, 28, 29, 30},
                                     .scored = {12, 13, 14}}) == Tokens{27, 26, 26});
  for (const std::string task : {"lego", "lego:shuffled=true"}) {
    const Drawn drawn = draw(task, 7, 0);
    CHECK(drawn.question.size() == 4 * 7);
    CHECK(drawn.answers == oracles().at("lego")(drawn.example));
    CHECK(drawn.example.distances == std::vector<int>{1, 2, 3, 4, 5, 6, 7});
  }
}

TEST_CASE("addition adds several operands, whose slots hold the longest sum") {
  std::set<size_t> counts;
  for (const Layout layout : {Layout::teacher_forced, Layout::slots}) {
    for (int n = 0; n < 200; ++n) {
      const Drawn drawn = draw("addition:operands=2..12,reversed=none", 3, n, layout);
      const std::vector<int> operands = numbers(drawn.question);
      counts.insert(operands.size());
      Tokens digits = drawn.answers;
      CHECK(digits.back() == 11);
      digits.pop_back();
      CHECK(number(digits) == std::accumulate(operands.begin(), operands.end(), 0));
      CHECK(drawn.example.segments.back() == static_cast<int>(operands.size()));
      if (layout == Layout::slots) CHECK(drawn.example.tokens.size() == drawn.question.size() + 3 + 2 + 1);
    }
  }
  CHECK(counts.size() == 11);
  const Drawn padded = draw("addition:operands=3,pad=true", 4);
  CHECK(padded.question.size() == 3 * 4 + 2);
  CHECK(padded.answers.size() == 4 + 1 + 1);
}
