#include "harness/run_directory.h"

#include <nlohmann/json.hpp>

#include "tests/catch.h"
#include "tests/harness/temporary.h"

using namespace posbench;

namespace {

const Json kConfig{{"training", {{"steps", 3}}}};
const std::vector<ExperimentId> kIds{{"parity_check", "none", 0}, {"parity_check", "rope", 0}};

ExperimentResult result(const ExperimentId& id) {
  ExperimentResult r{.id = id};
  r.parameters = 10;
  r.steps = 3;
  r.final_loss = 0.5;
  r.splits = {{.name = "in_distribution",
               .sequences = 4,
               .token = {3, 4},
               .sequence = {3, 4},
               .by_length = {{7, {3, 4}, {3, 4}}}}};
  return r;
}

const std::vector<TaskBaseline> kBaselines{
    {"parity_check", 1, {{"in_distribution", SplitKind::in_distribution, 0.5, {{"constant", 0.5}}}}}};

}  // namespace

TEST_CASE("a run directory keeps what is finished, and its report follows the manifest's order") {
  const TemporaryDirectory base;
  RunDirectory directory(base / "run", Existing::refuse, kConfig, Json::object(), kIds);
  directory.append(result(kIds[1]), 2);
  directory.append(result(kIds[0]), 1);
  const Report report = directory.write_report(kBaselines, Json::object());
  REQUIRE(report.experiments.size() == 2);
  CHECK(report.experiments[0].id == kIds[0]);
  CHECK(read_report(base / "run/report.json") == report);
  CHECK_FALSE(std::filesystem::exists(base / "run/report.json.tmp"));
}

TEST_CASE("an existing run directory is refused, resumed or replaced as asked") {
  const TemporaryDirectory base;
  { RunDirectory(base / "run", Existing::refuse, kConfig, Json::object(), kIds).append(result(kIds[0]), 1); }
  const std::string before = read_whole(base / "run/experiments.jsonl");
  CHECK_THROWS_AS(RunDirectory(base / "run", Existing::refuse, kConfig, Json::object(), kIds),
                  std::invalid_argument);
  CHECK(read_whole(base / "run/experiments.jsonl") == before);
  CHECK(RunDirectory(base / "run", Existing::resume, kConfig, Json::object(), kIds).finished().size() == 1);
  const Json other{{"training", {{"steps", 4}}}};
  CHECK_THROWS_WITH(RunDirectory(base / "run", Existing::resume, other, Json::object(), kIds),
                    Catch::Matchers::Contains("training/steps was 3 and is now 4"));
  CHECK(RunDirectory(base / "run", Existing::replace, other, Json::object(), kIds).finished().empty());
  CHECK(RunDirectory(base / "new", Existing::resume, kConfig, Json::object(), kIds).finished().empty());
}

TEST_CASE("a last line that is cut off is named, dropped and done again") {
  const TemporaryDirectory base;
  {
    RunDirectory directory(base / "run", Existing::refuse, kConfig, Json::object(), kIds);
    directory.append(result(kIds[0]), 1);
    directory.append(result(kIds[1]), 1);
  }
  std::filesystem::resize_file(base / "run/experiments.jsonl",
                               std::filesystem::file_size(base / "run/experiments.jsonl") - 5);
  RunDirectory directory(base / "run", Existing::resume, kConfig, Json::object(), kIds);
  CHECK(directory.finished().size() == 1);
  CHECK(directory.dropped().find("experiments.jsonl:2: the last line is cut off") != std::string::npos);
  directory.append(result(kIds[1]), 1);
  CHECK(RunDirectory(base / "run", Existing::resume, kConfig, Json::object(), kIds).finished().size() == 2);
}

TEST_CASE("a folder that is no run directory is never touched") {
  const TemporaryDirectory base;
  std::filesystem::create_directory(base / "mine");
  base.write("mine/precious.txt", "data");
  for (const Existing existing : {Existing::refuse, Existing::resume, Existing::replace}) {
    CHECK_THROWS_AS(RunDirectory(base / "mine", existing, kConfig, Json::object(), kIds), std::invalid_argument);
  }
  CHECK(std::distance(std::filesystem::directory_iterator(base / "mine"), {}) == 1);
}
