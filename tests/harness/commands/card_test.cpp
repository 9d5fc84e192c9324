// `posbench card`.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "harness/config/embedded_data.h"
#include "results/json/json.h"
#include "tests/catch.h"
#include "tests/harness/command.h"

using namespace posbench;

TEST_CASE("a card has the equation, a score for each aspect, every task of the board and the claims") {
  const TemporaryDirectory directory;
  const Outcome outcome = posbench_command(directory, "card rotary");
  REQUIRE(outcome.code == 0);
  CHECK(outcome.out.starts_with("rope (encoding, rotary)\n\n    score_h(i, j)"));
  CHECK(outcome.out.find("Used in: RoFormer, GPT-J") != std::string::npos);
  CHECK(outcome.out.find("rope on 6") != std::string::npos);
  CHECK(outcome.out.find("rope-selective-copy-fails") != std::string::npos);
  std::istringstream lines(outcome.out);
  for (std::string line; std::getline(lines, line);) {
    INFO(line);
    CHECK(line.size() <= 100);
  }
  const Json card = Json::parse(posbench_command(directory, "card rope --format json").out);
  const Json board = Json::parse(posbench_command(directory, "board -e rope --format json").out);
  CHECK(card["board"]["tasks"].size() == board["tasks"].size());
  REQUIRE(card["aspects"].size() == 8);
  for (const Json& aspect : card["aspects"]) {
    INFO(aspect);
    CHECK(aspect["low"].get<double>() <= aspect["score"].get<double>());
    CHECK(aspect["score"].get<double>() <= aspect["high"].get<double>());
    CHECK(aspect["learned"].get<int>() <= aspect["tasks"].get<int>());
    const auto found = outcome.out.find("\n" + aspect["aspect"].get<std::string>() + " ");
    CHECK(found != std::string::npos);
  }
  CHECK(posbench_command(directory, "card rope --format markdown").out.starts_with("# rope (encoding, rotary)\n"));
}

TEST_CASE("a card refuses names that are no encoding and formats that it does not have") {
  const TemporaryDirectory directory;
  const Outcome unknown = posbench_command(directory, "card ropes");
  CHECK(unknown.code == 2);
  CHECK(unknown.error.find("unknown encoding 'ropes'; did you mean 'rope'?") != std::string::npos);
  const Outcome csv = posbench_command(directory, "card rope --format csv");
  CHECK(csv.code == 2);
  CHECK(csv.error.find("a card needs --format console, markdown or json") != std::string::npos);
}

TEST_CASE("recommend sorts the encodings that ran every task of the aspects, and keeps the cost") {
  const TemporaryDirectory directory;
  const Json all =
      Json::parse(posbench_command(directory, "recommend --aspects counting,recall --format json").out);
  REQUIRE(all["aspects"].size() == 2);
  REQUIRE(all["encodings"].size() >= 8);
  const auto mean = [](const Json& encoding) {
    return encoding["scores"][0]["score"].get<double>() + encoding["scores"][1]["score"].get<double>();
  };
  size_t cheap = 0;
  for (size_t n = 0; n < all["encodings"].size(); ++n) {
    const Json& encoding = all["encodings"][n];
    CHECK((n == 0 || mean(all["encodings"][n - 1]) >= mean(encoding)));
    if (encoding["cost"].get<double>() <= 1.3) ++cheap;
    const std::string name = encoding["encoding"];
    const Json card = Json::parse(posbench_command(directory, "card " + name + " --format json").out);
    CHECK(card["aspects"][0]["score"] == encoding["scores"][1]["score"]);
    CHECK(card["aspects"][1]["score"] == encoding["scores"][0]["score"]);
    if (n == 2) break;
  }
  const Json some =
      Json::parse(posbench_command(directory, "recommend --aspects counting,recall --cost 1.3 --format json").out);
  CHECK(some["encodings"].size() >= cheap);
  CHECK(some["encodings"].size() < all["encodings"].size());
  for (const Json& encoding : some["encodings"]) CHECK(encoding["cost"].get<double>() <= 1.3);
  const Outcome unknown = posbench_command(directory, "recommend --aspects count");
  CHECK(unknown.code == 2);
  CHECK(unknown.error.find("unknown aspect 'count'; did you mean 'counting'? (aspects: recall, counting,") !=
        std::string::npos);
}
