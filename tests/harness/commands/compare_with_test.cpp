// `posbench compare` with the results that the program contains, and its conclusions.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/file.h"
#include "results/json/json.h"
#include "tests/catch.h"
#include "tests/harness/command.h"

using namespace posbench;

namespace {

const std::string kReference = POSBENCH_SOURCE_DIR "/results/data/reference/report.json";

/// Writes the reference report with alibi alone, under the name "mine".
Json write_mine(const TemporaryDirectory& directory) {
  Json report = read_json(kReference);
  Json mine = Json::array();
  for (Json& experiment : report["experiments"]) {
    if (experiment["encoding"] != "alibi") continue;
    experiment["encoding"] = "mine";
    mine.push_back(experiment);
  }
  report["experiments"] = mine;
  report["summary"] = report["ranking"] = Json::array();
  report["timing"] = Json::object();
  write_file(directory / "mine.json", report.dump());
  return report;
}

}  // namespace

TEST_CASE("compare takes the results of other encodings from the program and ends with a sentence for each task") {
  const TemporaryDirectory directory;
  const Json report = write_mine(directory);
  const Json compared =
      Json::parse(posbench_command(directory, "compare mine.json --with rotary,alibi --format json").out);
  const Json between = Json::parse(
      posbench_command(directory, fmt::format("compare {} --between rope,alibi --format json", kReference)).out);
  size_t rows = 0;
  for (const Json& row : compared["rows"]) {
    INFO(row);
    CHECK(row["candidate_encoding"] == "mine");
    if (row["encoding"] == "alibi") CHECK(row["difference"] == 0);
    if (row["encoding"] != "rope") continue;
    const auto same = std::ranges::find_if(between["rows"], [&](const Json& other) {
      return other["task"] == row["task"] && other["split"] == row["split"];
    });
    REQUIRE(same != between["rows"].end());
    CHECK((*same)["difference"] == row["difference"]);
    ++rows;
  }
  CHECK(rows == between["rows"].size());
  const size_t tasks = report["tasks"].size();
  CHECK(compared["conclusions"].size() == 2 * tasks + 2);
  const std::string shown = posbench_command(directory, "compare mine.json --with rotary,alibi").out;
  CHECK_THAT(shown, ContainsSubstring(fmt::format("Over {} tasks mine is better than rope on ", tasks)));
  CHECK_THAT(shown, ContainsSubstring("\nmine and alibi on flip_flop: inconclusive (") &&
                        !ContainsSubstring("inconclusive (0.84 against 0.84, p"));
  const Outcome some = posbench_command(directory, "compare mine.json --with rope,local");
  CHECK_THAT(some.out, ContainsSubstring("mine is better than rope on "));
  CHECK_THAT(some.out, ContainsSubstring("result of 'local'"));
  const Outcome all = posbench_command(directory, fmt::format("compare {} --with rope,alibi -e cope", kReference));
  CHECK_THAT(all.out, ContainsSubstring("\ncope is better than rope on "));
  const Outcome runs = posbench_command(directory, fmt::format("compare {0} {0}", kReference));
  CHECK_THAT(runs.out, ContainsSubstring("Over 49 pairs of task and encoding "));
  std::filesystem::copy_file(directory / "mine.json", directory / "again.json");
  const Outcome two =
      posbench_command(directory, fmt::format("compare {} mine.json again.json --match rope=mine", kReference));
  CHECK_THAT(two.out, ContainsSubstring("\nOver 7 tasks mine of again.json is better than rope on "));
}

TEST_CASE("compare names what stored results lack: a setting, a task or an encoding") {
  const TemporaryDirectory directory;
  Json report = write_mine(directory);
  CHECK_THAT(refusal(directory, "compare mine.json --with ropes"), ContainsSubstring("did you mean 'rope'?"));
  CHECK_THAT(refusal(directory, "compare mine.json mine.json --with rope"), ContainsSubstring("one report"));
  CHECK_THAT(refusal(directory, "compare mine.json --with cope:positions=5"),
             ContainsSubstring("no result of 'cope:positions=5'") &&
                 ContainsSubstring("posbench run -e cope:positions=5"));
  report["config"]["training"]["steps"] = 77;
  write_file(directory / "mine.json", report.dump());
  CHECK_THAT(refusal(directory, "compare mine.json --with rope"), ContainsSubstring("config.training.steps"));
  CHECK(posbench_command(directory, "compare mine.json --with rope --allow-different-budget").code == 0);
}

TEST_CASE("a comparison and the board of two encodings state over all tasks which is better") {
  const TemporaryDirectory directory;
  const Json compared = Json::parse(
      posbench_command(directory, fmt::format("compare {} --between rope,alibi --format json", kReference)).out);
  std::vector<std::string> better, tasks;
  for (const Json& row : compared["rows"]) {
    std::vector<std::string>& list = row["verdict"] == "better" ? better : tasks;
    const std::string task = row["task"];
    if (std::ranges::find(list, task) == list.end()) list.push_back(task);
  }
  const std::string last = compared["conclusions"].back();
  CHECK(last.starts_with("Over "));
  const std::string extended = POSBENCH_SOURCE_DIR "/results/data/questions/rope.json.gz --between rope,*yarn*";
  CHECK_THAT(posbench_command(directory, "compare " + extended).out,
             ContainsSubstring("\nood_length       better ") && ContainsSubstring("(ood_dense: 0.56\n"));
  CHECK(last.find("alibi is better than rope on ") != std::string::npos);
  CHECK(std::stoul(last.substr(last.find("than rope on ") + 13)) <= better.size());
  CHECK_THAT(last, ContainsSubstring("a seed of alibi is better with a probability of "));
  std::string board = posbench_command(directory, "board -e rope,alibi").out;
  std::ranges::replace(board, '\n', ' ');  // its lines are wrapped
  CHECK_THAT(board, ContainsSubstring("the higher mean than rope on 44 and the lower on 23;") &&
                        ContainsSubstring("is better with a probability of"));
}
