// Tests the fifteen tasks of Deletang et al. 2023: the worked examples of the reference, section 6.3, and
// properties beyond the contract.
#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "harness/check/oracles.h"
#include "tasks/registry.h"
#include "tests/catch.h"
#include "tests/tasks/text_task.h"

using namespace posbench;

namespace {

/// Returns the oracle's answer to a question, with the empty token after it.
Tokens answer(const std::string& task, Tokens question) {
  const int target_position = static_cast<int>(question.size());
  question.push_back(make(task)->vocabulary() - 1);
  return oracles().at(task)(Example{.tokens = std::move(question), .scored = {target_position}});
}

Example draw(const std::string& spec, Layout layout, int length, int index = 0) {
  Rng rng = make_rng(0, "chomsky", index);
  return make(spec, layout)->sample(length, rng);
}

}  // namespace

TEST_CASE("the oracles of the Chomsky tasks answer the worked examples") {
  CHECK(answer("even_pairs", {0, 0, 1, 1, 1, 0}) == Tokens{0});
  CHECK(answer("even_pairs", {1}) == Tokens{0});
  CHECK(answer("parity_check", {1, 0, 1, 0, 1, 0, 0}) == Tokens{1});
  CHECK(answer("modular_arithmetic", {1, 5, 2, 7, 3}) == Tokens{2});
  CHECK(answer("cycle_navigation", {2, 0, 1, 0, 0}) == Tokens{3});
  CHECK(answer("stack_manipulation", {0, 1, 1, 0, 4, 2, 2}) == Tokens{1, 1, 0, 2});
  CHECK(answer("stack_manipulation", {1, 1, 0, 2, 2, 2}) == Tokens{2});
  CHECK(answer("stack_manipulation", {0, 2, 2, 4}) == Tokens{1, 2});  // to pop an empty stack does nothing
  CHECK(answer("reverse_string", {0, 1, 1, 0, 1, 0}) == Tokens{0, 1, 0, 1, 1, 0});
  CHECK(answer("modular_arithmetic_brackets", {8, 3, 7, 6, 2, 9}) == Tokens{4});
  CHECK(answer("solve_equation", {7, 9, 6, 3, 8, 10, 1}) == Tokens{4});
  CHECK(answer("duplicate_string", {1, 0, 1}) == Tokens{1, 0, 1, 1, 0, 1});
  CHECK(answer("missing_duplicate_string", {0, 1, 1, 0, 0, 2, 1, 0}) == Tokens{1});
  CHECK(answer("missing_duplicate_string", {0, 2, 0, 1, 3}) == Tokens{1});
  CHECK(answer("odds_first", {0, 0, 1, 1, 0, 1, 0, 1}) == Tokens{0, 1, 1, 1, 0, 1, 0, 0});
  CHECK(answer("odds_first", {1, 0, 0}) == Tokens{0, 1, 0});
  CHECK(answer("binary_addition", {0, 0, 1, 2, 0, 1, 1, 0, 1}) == Tokens{0, 1, 0, 1, 1, 2});
  CHECK(answer("binary_addition", {1, 0, 0, 1, 2, 0, 0, 0, 0, 0, 1}) == Tokens{1, 0, 0, 1, 0, 1, 2});
  CHECK(answer("binary_addition", {0, 0}) == Tokens{0, 2});
  CHECK(answer("binary_multiplication", {0, 0, 1, 2, 0, 1, 1, 0, 1}) == Tokens{0, 0, 0, 1, 1, 0, 1, 2});
  CHECK(answer("binary_multiplication", {0}) == Tokens{2});
  CHECK(answer("binary_multiplication", {0, 1}) == Tokens{0, 2});
  CHECK(answer("compute_sqrt", {1, 0, 0, 1, 0, 1}) == Tokens{1, 1, 0});
  CHECK(answer("bucket_sort", {1, 0, 2, 0, 4, 1, 1, 2}) == Tokens{0, 0, 1, 1, 1, 2, 2, 4});
}

TEST_CASE("a sequence of a Chomsky task is as long as published") {
  const auto slots = [](const std::string& task, int length) {
    return draw(task, Layout::slots, length).tokens.size();
  };
  for (const char* task : {"even_pairs", "parity_check", "cycle_navigation", "modular_arithmetic_brackets",
                           "solve_equation", "missing_duplicate_string"}) {
    CHECK(slots(task, 40) == 41);
    CHECK(slots(task, 500) == 501);
  }
  CHECK(slots("modular_arithmetic", 40) == 40);  // 39 tokens and the slot: even lengths are reduced
  CHECK(slots("modular_arithmetic", 39) == 40);
  for (const char* task : {"reverse_string", "odds_first", "bucket_sort", "binary_multiplication"}) {
    CHECK(slots(task, 500) == 1000);
  }
  CHECK(slots("stack_manipulation", 500) == 1001);
  CHECK(slots("binary_addition", 500) == 1001);
  CHECK(slots("duplicate_string", 500) == 1500);
  CHECK(slots("compute_sqrt", 500) == 750);
}

TEST_CASE("the hidden bit of a doubled string is in its first copy as often as in its second") {
  int in_first = 0;
  for (int n = 0; n < 200; ++n) {
    const Tokens tokens = draw("missing_duplicate_string", Layout::teacher_forced, 8, n).tokens;
    in_first += std::find(tokens.begin(), tokens.begin() + 8, 2) < tokens.begin() + 4;
  }
  CHECK(in_first > 70);
  CHECK(in_first < 130);
}

TEST_CASE("after its terminator an answer is unscored zeros in slots, and ends if it is teacher forced") {
  for (const char* task : {"stack_manipulation", "binary_addition", "binary_multiplication"}) {
    for (int n = 0; n < 50; ++n) {
      const Example slots = draw(task, Layout::slots, 12, n), forced = draw(task, Layout::teacher_forced, 12, n);
      CHECK(scored_answers(slots) == scored_answers(forced));
      CHECK(scored_answers(slots).back() == 2);
      CHECK(forced.scored.back() == static_cast<int>(forced.tokens.size()) - 1);
      for (size_t t = slots.scored.back() + 1; t < slots.targets.size(); ++t) CHECK(slots.targets[t] == 0);
    }
  }
}

TEST_CASE("the order of odds first and the endianness of compute sqrt can be the paper's") {
  for (int n = 0; n < 20; ++n) {
    const Example code = draw("odds_first", Layout::slots, 8, n),
                  paper = draw("odds_first:order=paper", Layout::slots, 8, n);
    const Tokens late = scored_answers(code), early = scored_answers(paper);
    CHECK(Tokens(early.begin(), early.begin() + 4) == Tokens(late.begin() + 4, late.end()));
    CHECK(Tokens(early.begin() + 4, early.end()) == Tokens(late.begin(), late.begin() + 4));

    const Tokens big = scored_answers(draw("compute_sqrt", Layout::slots, 9, n));
    const Tokens little = scored_answers(draw("compute_sqrt:endian=little", Layout::slots, 9, n));
    CHECK(big == Tokens(little.rbegin(), little.rend()));
  }
}

TEST_CASE("an even length of modular arithmetic is one less, as in the code, or one more, as in the paper") {
  for (const auto& [length, code, paper] : {std::tuple{1, 1, 1}, {2, 1, 3}, {3, 3, 3}, {40, 39, 41}}) {
    const Example less = draw("modular_arithmetic", Layout::slots, length);
    const Example more = draw("modular_arithmetic:even=paper", Layout::slots, length);
    CHECK(static_cast<int>(less.tokens.size()) == code + 1);
    CHECK(static_cast<int>(more.tokens.size()) == paper + 1);
    CHECK(oracles().at("modular_arithmetic")(more) == scored_answers(more));
  }
}

TEST_CASE("a bit of a binary number has its digit position, both if it is read and if it is predicted in a slot") {
  const Example forced = draw("binary_addition", Layout::teacher_forced, 9),
                slots = draw("binary_addition", Layout::slots, 9);
  for (const Example* e : {&forced, &slots}) {
    int position = 0, operand = 0;
    REQUIRE(e->digit_positions.size() == e->tokens.size());
    for (int t = 0; t < 9; ++t) {
      position = e->tokens[t] == 2 ? 0 : position + 1;
      CHECK(e->digit_positions[t] == position);
      CHECK(e->segments[t] == operand);
      operand += e->tokens[t] == 2;
    }
    CHECK(e->segments.back() == 2);
  }
  for (size_t t = 9; t < forced.tokens.size(); ++t) CHECK(forced.digit_positions[t] == static_cast<int>(t) - 9);
  for (size_t t = 9; t < slots.tokens.size(); ++t) CHECK(slots.digit_positions[t] == static_cast<int>(t) - 8);
}
