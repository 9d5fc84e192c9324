// `posbench bench` prints the speed of training steps.
#include <algorithm>
#include <sstream>
#include <string>

#include "tests/catch.h"
#include "tests/harness/command.h"

using namespace posbench;

TEST_CASE("each row of bench has its encoding, and each heading is explained") {
  const Outcome outcome = posbench_command({}, "bench -q -e none,cope --sizes tiny --length 8,16 -r 1");
  REQUIRE(outcome.code == 0);
  std::istringstream lines(outcome.out);
  int rows = 0;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("tiny ")) continue;
    ++rows;
    CHECK((line.find(" none ") != line.npos) != (line.find(" cope ") != line.npos));
  }
  CHECK(rows >= 6);  // four of steps, in one or more blocks, and two of the growth with the length
  std::string text = outcome.out;
  std::ranges::replace(text, '\n', ' ');
  for (const char* heading : {"training cost,", "evaluation cost:", "evaluated/s:", "of peak:", "grows as:"})
    CHECK(text.find(heading) != text.npos);
}
