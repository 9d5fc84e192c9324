// Tests the values of options: what is drawn from them, how they are written, and their ranges.
#include "base/options.h"

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "tests/catch.h"

using namespace posbench;

namespace {

/// Returns how often each value occurs in 6000 draws.
std::map<int, int> draw_often(const Integers& integers) {
  Rng rng = make_rng(1, "options");
  std::map<int, int> counts;
  for (int n = 0; n < 6000; ++n) ++counts[integers.draw(rng)];
  return counts;
}

}  // namespace

TEST_CASE("a draw from an interval or a list gives each of its values equally often") {
  Integers list{0};
  REQUIRE(Integers::parse("21/30/40", list));
  const std::map<int, int> of_interval = draw_often({4, 6}), of_list = draw_often(list);
  REQUIRE(of_interval.size() == 3);
  REQUIRE(of_list.size() == 3);
  for (const int value : {4, 5, 6})
    CHECK(std::abs(of_interval.at(value) - 2000) < 200);  // over 5 standard deviations
  for (const int value : {21, 30, 40}) CHECK(std::abs(of_list.at(value) - 2000) < 200);
  CHECK(draw_often(7) == std::map<int, int>{{7, 6000}});
}

TEST_CASE("intervals and lists are written as they are read") {
  for (const char* text : {"1..40", "32", "21/30/40", "1/3", "3/2/1", "7/5/8", "10/10/12", "3/4/4"}) {
    INFO(text);
    Integers integers{0};
    REQUIRE(Integers::parse(text, integers));
    CHECK(integers.text() == text);
  }
}

TEST_CASE("the ends of a range are accepted, and what is beyond them is refused") {
  int count = 3;
  double rate = 0.5;
  OptionTable table;
  table.integer("count", count, 2, 5, "");
  table.number("rate", rate, 0.25, 1, "");
  const auto sets = [&](size_t option, const std::string& text) { return table.all()[option].set(text); };
  CHECK(sets(0, "2"));
  CHECK(sets(0, "5"));
  CHECK(count == 5);
  CHECK_FALSE(sets(0, "1"));
  CHECK_FALSE(sets(0, "6"));
  CHECK(count == 5);
  CHECK(sets(1, "0.25"));
  CHECK(sets(1, "1"));
  CHECK_FALSE(sets(1, "0.2499"));
  CHECK_FALSE(sets(1, "1.0001"));
  CHECK(rate == 1);
}
