// `posbench bench` prints the speed of training steps.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "results/json/json.h"
#include "tests/catch.h"
#include "tests/harness/command.h"

using namespace posbench;

TEST_CASE("each row of bench has its encoding, and each heading is explained") {
  const Outcome outcome = succeeded({}, "bench -q -e none,cope --sizes tiny --length 8,16 -r 1");
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

TEST_CASE("bench takes the sequences of a batch, and shows the growth of sizes with two lengths") {
  const TemporaryDirectory directory;
  const auto benched = [&](const std::string& arguments) {
    return Json::parse(posbench_command(directory, "bench -q -e none -r 1 --json " + arguments).out);
  };
  const Json batch = benched("--sizes tiny --batch 3"), twice = benched("--sizes tiny --length 8,8"),
             growth = benched("--sizes che,tiny").at("growth");
  CHECK(batch["benchmarks"][0]["batch"] == 3);
  CHECK_FALSE(batch.contains("growth"));
  CHECK(twice["benchmarks"][0]["length"] == 8);
  CHECK_FALSE(twice.contains("growth"));
  REQUIRE(growth.size() == 1);
  CHECK(growth[0]["size"] == "che");
}

TEST_CASE("bench states the cost of settings of the model relative to a plain model of the same size") {
  const std::string bench = "bench -q -e none,rope -r 1 --sizes tiny --json --set ";
  const Json rows =
      Json::parse(posbench_command({}, bench + "model.pattern=gated_delta,sequential,sequential").out);
  REQUIRE(rows["benchmarks"].size() == 3);
  const Json &plain = rows["benchmarks"][0], &with_setting = rows["benchmarks"][1];
  CHECK(plain["name"] == "none");
  CHECK(plain["relative_cost"] == 1);
  CHECK(plain["layers"] == 3);
  CHECK(with_setting["name"] == "none model.pattern=gated_delta,sequential,sequential");
  CHECK(with_setting["layers"] == 3);
  CHECK(with_setting["parameters"] > plain["parameters"]);
  CHECK(rows["benchmarks"][2]["encoding"] == "rope");
  for (const char* other : {"training.steps=3", "model.begin_token=true", "model.norms=pre", "smear"})
    CHECK(posbench_command({}, bench + other).code == 2);
}
