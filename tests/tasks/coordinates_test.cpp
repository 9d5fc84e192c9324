// Tests the tasks whose positions have coordinates, multiplication and minesweeper, with values of the published
// code and with worked examples.
#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "harness/check/oracles.h"
#include "tasks/registry.h"
#include "tasks/splits.h"
#include "tests/catch.h"
#include "tests/tasks/text_task.h"

using namespace posbench;

namespace {

using Lists = std::vector<std::vector<int>>;

/// Returns the task of a split with its relative values.
std::unique_ptr<Task> make_split(const std::string& name, const std::string& split) {
  const TaskEntry& entry = tasks().find(name);
  const auto found = std::ranges::find(entry.info.splits, split, &TaskInfo::Split::name);
  REQUIRE(found != entry.info.splits.end());
  return make_task(Spec{name, {}}, resolved(Spec{name, {}}, entry.options, *found), Layout::teacher_forced);
}

/// Returns the operands of a question, without spaces.
std::vector<std::string> operands_of(const std::string& question) {
  std::vector<std::string> operands(1);
  for (const char c : question) {
    if (c == '*') {
      operands.emplace_back();
    } else if (c != ' ') {
      operands.back() += c;
    }
  }
  return operands;
}

/// Returns a number of the answer as the options write it.
std::string written(long long number, bool reversed, size_t digits) {
  std::string text = std::to_string(number);
  text.insert(0, digits - std::min(digits, text.size()), '0');
  if (reversed) std::ranges::reverse(text);
  return text;
}

}  // namespace

TEST_CASE("multiplication has every order of digits, with and without zeros and scratchpad") {
  for (const std::string order : {"none", "answer", "all"}) {
    for (const bool pad : {true, false}) {
      for (const bool scratchpad : {true, false}) {
        const std::string options = "reversed=" + order + (pad ? ",pad=true" : ",pad=false") +
                                    (scratchpad ? ",scratchpad=true" : ",scratchpad=false");
        CAPTURE(options);
        const TextTask task("multiplication:" + options), slots("multiplication:" + options, Layout::slots);
        for (int n = 0; n < 60; ++n) {
          const Example e = task.draw(1 + n % 6, n);
          std::vector<std::string> operands = operands_of(task.question(e));
          if (order == "all") {
            for (std::string& operand : operands) std::ranges::reverse(operand);
          }
          const size_t length = operands[0].size(), factor = operands[1].size();
          const bool reversed = order != "none";
          std::string products, sums;
          long long power = 1, sum = 0;
          for (size_t i = 0; i < factor; ++i, power *= 10) {
            const long long product = std::stoll(operands[0]) * (operands[1][factor - 1 - i] - '0');
            sum += product * power;
            products += (i > 0 ? "+" : "") + written(product, reversed, pad ? length + 1 : length);
            sums += (i > 0 ? ">" : "") + written(sum, reversed, pad ? length + factor : length);
          }
          const std::string alone = written(sum, reversed, pad ? length + factor : 1);
          std::string answer = task.answer(e);
          std::erase(answer, ' ');
          CHECK(answer == (scratchpad ? products + "=" + sums : alone) + ".");
          CHECK(slots.answer(slots.draw(1 + n % 6, n)) == task.answer(e));
        }
      }
    }
  }
}

TEST_CASE("multiplication states the coordinates of the published code") {
  const TextTask task("multiplication:factor=2"), slots("multiplication:factor=2", Layout::slots);
  const Example e = task.draw(2),
                in_slots = slots.draw(2);  // such as 1 2 * 3 4 = 8 4 0 + 6 3 0 = 8 4 0 0 > 8 0 4 0
  CHECK(e.coordinates == Lists{{3, 2, 0, 0, 0, 1, 2, 3, 4, 1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
                               {0, 0, 0, 2, 1, 1, 1, 1, 1, 2, 2, 2, 2, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2},
                               {0, 0, 0, 0, 0, 1, 2, 3, 4, 2, 3, 4, 5, 1, 2, 3, 4, 5, 1, 2, 3, 4, 5}});
  CHECK(e.digit_positions == Tokens{2, 1, 0, 2, 1, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 4, 0, 1, 2, 3, 4});
  CHECK(e.segments == Tokens{0, 0, 0, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 4, 5, 5, 5, 5, 5});
  for (size_t n = 0; n < 3; ++n) {  // The slot of an answer token has its coordinates; that of the end has none.
    Tokens expected = e.coordinates[n];
    expected.erase(expected.begin() + 5);
    expected.push_back(0);
    CHECK(in_slots.coordinates[n] == expected);
  }
  const Example forward = TextTask("multiplication:factor=2,reversed=none").draw(2);
  CHECK(forward.coordinates[0] == Tokens{2, 1, 0, 0, 0, 4, 3, 2, 1, 4, 3, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  CHECK(forward.coordinates[2] == Tokens{0, 0, 0, 0, 0, 4, 3, 2, 1, 5, 4, 3, 2, 5, 4, 3, 2, 1, 5, 4, 3, 2, 1});
}

TEST_CASE("multiplication hides coordinates that would show where unpadded numbers end") {
  const auto last_values = [](const std::string& options, Layout layout) {
    const TextTask task("multiplication:factor=2,pad=false" + options, layout);
    const Example e = task.draw(3);
    std::set<int> values(e.digit_positions.begin() + 6, e.digit_positions.end());
    for (const std::vector<int>& coordinate : e.coordinates)
      values.insert(coordinate.begin() + 6, coordinate.end());
    return values.size();
  };
  CHECK(last_values("", Layout::teacher_forced) > 1);
  CHECK(last_values("", Layout::slots) == 1);
  CHECK(last_values(",reversed=none", Layout::teacher_forced) == 1);
  const Example alone = TextTask("multiplication:factor=2,scratchpad=false,pad=false", Layout::slots).draw(3);
  CHECK(alone.coordinates.empty());
  CHECK(alone.digit_positions == Tokens{3, 2, 1, 0, 2, 1, 1, 2, 3, 4, 5, 6});
}

TEST_CASE("minesweeper has the same boards without the ends of rows") {
  const TextTask task("minesweeper");
  const TextTask joined("minesweeper:row_ends=false");
  for (int n = 0; n < 50; ++n) {
    const Example e = task.draw(4, n), without_ends = joined.draw(4, n);
    CHECK(joined.answer(without_ends) == task.answer(e));
    CHECK(without_ends.tokens.size() + 6 == e.tokens.size());
  }
}

TEST_CASE("minesweeper states the column and the row of each cell, as in the published code") {
  for (const Layout layout : {Layout::teacher_forced, Layout::slots}) {
    const Example e = TextTask("minesweeper:columns=3", layout).draw(2);
    if (layout == Layout::teacher_forced) {
      CHECK(e.coordinates ==
            Lists{{2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3}, {2, 2, 2, 3, 3, 3, 3, 1, 2, 2, 2, 3, 3, 3}});
      CHECK(e.segments == Tokens{0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3});
    } else {
      CHECK(e.coordinates ==
            Lists{{2, 3, 4, 1, 2, 3, 4, 2, 3, 4, 1, 2, 3, 4}, {2, 2, 2, 3, 3, 3, 3, 2, 2, 2, 3, 3, 3, 3}});
      CHECK(e.segments == Tokens{0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 3, 3, 3, 3});
    }
    CHECK(e.scored == Tokens{7, 8, 9, 11, 12, 13});
    CHECK(e.targets[10] == 10);  // The / is trained.
  }
}

TEST_CASE("the fractions of mines of minesweeper boards are uniform between both options") {
  const auto mines = [](const std::string& options, int n) {
    const Example e = TextTask("minesweeper:columns=40" + options).draw(40, n);
    return std::count(e.tokens.begin(), e.tokens.begin() + e.scored.front(), 9) / 1600.0;
  };
  double sum = 0, low = 1, high = 0;
  for (int n = 0; n < 300; ++n) {
    const double fraction = mines("", n);
    sum += fraction;
    low = std::min(low, fraction);
    high = std::max(high, fraction);
  }
  CHECK(sum / 300 == Approx(0.175).margin(0.01));
  CHECK(low == Approx(0.1).margin(0.03));
  CHECK(high == Approx(0.25).margin(0.03));
  CHECK(mines(",min_mines=0,max_mines=0", 0) == 0);
  CHECK(mines(",min_mines=1,max_mines=1", 0) == 1);
}

TEST_CASE("the splits of multiplication and minesweeper are larger in the first dimension, the second, or both") {
  using Range = std::pair<int, int>;
  for (const auto& [name, split, first, second] :
       {std::tuple{"multiplication", "in_distribution", Range{1, 3}, Range{1, 2}},
        {"multiplication", "ood_length", {4, 6}, {1, 2}},
        {"multiplication", "ood_factor", {1, 3}, {3, 4}},
        {"multiplication", "ood_both", {4, 6}, {3, 4}},
        {"minesweeper", "in_distribution", {3, 5}, {3, 5}},
        {"minesweeper", "ood_length", {6, 10}, {3, 5}},
        {"minesweeper", "ood_columns", {3, 5}, {6, 10}},
        {"minesweeper", "ood_both", {6, 10}, {6, 10}}}) {
    const std::unique_ptr<Task> task = make_split(name, split);
    std::set<int> firsts, seconds;  // digits of the operands, or rows and columns
    for (int n = 0; n < 500; ++n) {
      Rng rng = make_rng(0, "splits", n);
      const Example e = task->sample(task->lengths().draw(rng), rng);
      const int times = static_cast<int>(std::ranges::find(e.tokens, 14) - e.tokens.begin());
      const bool is_product = name == std::string("multiplication");
      firsts.insert(is_product ? times : std::ranges::max(e.coordinates[1]) - 1);
      seconds.insert(is_product ? e.scored.front() - times - 1 : std::ranges::max(e.coordinates[0]) - 1);
    }
    INFO(name << ", " << split);
    CHECK((Range{*firsts.begin(), *firsts.rbegin()} == first));
    CHECK((Range{*seconds.begin(), *seconds.rbegin()} == second));
  }
}
