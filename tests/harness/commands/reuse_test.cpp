// `posbench run --reuse` and `posbench reproduce --with` take over finished experiments and train only the others.
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "harness/runs/claims.h"
#include "results/json/json.h"
#include "results/reports/report_json.h"
#include "tests/catch.h"
#include "tests/harness/command.h"
#include "tests/harness/report_json.h"
#include "tests/temporary.h"

using namespace posbench;

namespace {

const std::string kRun = "run -q --profile smoke -t parity_check -e none,rope ";
const std::filesystem::path kKeptRuns = std::filesystem::path(POSBENCH_SOURCE_DIR) / "results/data/claims/runs";

/// Returns the number of experiments that a report took from the run with this commit.
int count_trained_by(const Json& report, const std::string& commit) {
  int count = 0;
  for (const Json& time : report.at("timing").at("experiments")) count += time.value("trained_by", "") == commit;
  return count;
}

/// Writes a report into a new run directory.
void write_run(const TemporaryDirectory& directory, const std::string& name, const Json& report) {
  std::filesystem::create_directories(directory / name);
  directory.write(name + "/report.json", report.dump());
}

}  // namespace

TEST_CASE("a run that reuses two seeds of four has the results of a run of four, and names who trained them") {
  const TemporaryDirectory directory;
  REQUIRE(posbench_command(directory, kRun + "-s 2 -o two").code == 0);
  REQUIRE(posbench_command(directory, kRun + "-s 4 -o four").code == 0);
  Json two = read_json(directory / "two/report.json");
  two["context"]["commit"] = "of_two";
  two["experiments"][0]["parameters"] = 12345;  // shows that this experiment is not trained again
  write_run(directory, "old", two);

  const Outcome planned = posbench_command(directory, kRun + "-s 4 --reuse old --dry-run");
  CHECK(planned.out.find("\n4 experiments;") != std::string::npos);
  REQUIRE(posbench_command(directory, kRun + "-s 4 --reuse old -o more").code == 0);
  const Json more = read_json(directory / "more/report.json");
  CHECK(count_trained_by(more, "of_two") == 4);
  CHECK(more.at("experiments").at(0).at("parameters") == 12345);

  REQUIRE(posbench_command(directory, kRun + "-s 4 --reuse two -o same").code == 0);
  CHECK(without_context(directory / "same/report.json") == without_context(directory / "four/report.json"));

  // A run that was taken over can be taken over again. It keeps the names of those who trained it.
  REQUIRE(posbench_command(directory, kRun + "-s 5 --reuse more -o five").code == 0);
  const Json five = read_json(directory / "five/report.json");
  CHECK(count_trained_by(five, "of_two") == 4);
  CHECK(count_trained_by(five, more.at("context").at("commit")) == 4);
  CHECK(count_trained_by(five, "") == 2);
}

TEST_CASE("an interrupted run continues with --reuse, also if it was begun without it") {
  const TemporaryDirectory directory;
  REQUIRE(posbench_command(directory, kRun + "-s 3 -o three").code == 0);
  const Json three = without_context(directory / "three/report.json");
  const std::string lines = read_whole(directory / "three/experiments.jsonl");
  directory.write("three/experiments.jsonl", lines.substr(0, lines.find('\n') + 1));
  std::filesystem::remove(directory / "three/report.json");
  REQUIRE(posbench_command(directory, kRun + "-s 2 -o two").code == 0);
  REQUIRE(posbench_command(directory, "run -q --resume -o three --reuse two").code == 0);
  CHECK(without_context(directory / "three/report.json") == three);
  const Json report = read_json(directory / "three/report.json");
  CHECK(count_trained_by(report, report.at("context").at("commit")) == 3);
}

TEST_CASE("--reuse refuses what does not belong to the run, before it writes anything") {
  const TemporaryDirectory directory;
  REQUIRE(posbench_command(directory, kRun + "-s 1 -o one").code == 0);
  const auto refused = [&](const std::string& arguments, const std::string& message) {
    const Outcome outcome = posbench_command(directory, kRun + arguments + " -o new");
    INFO(outcome.error);
    CHECK(outcome.code == 2);
    CHECK(outcome.error.find(message) != std::string::npos);
    CHECK(!std::filesystem::exists(directory / "new"));
  };
  refused("-s 2 --reuse one --set training.steps=7",
          "--reuse: one has no experiment of this run: training.steps was ");
  refused("-s 7,8 --reuse one",
          "--reuse: one has no experiment of this run: tasks, encodings or seeds are others");
  refused("-s 2 --reuse nothing", "nothing");
  refused("-s 2 --reuse one --save-models", "--reuse excludes --save-models");

  Json report = read_json(directory / "one/report.json");
  report["context"]["plugins"]["libmine.so"] = {{"crc32", "0"}};
  write_run(directory, "plugin", report);
  refused("-s 2 --reuse plugin", "--reuse: plugin was trained with the plug-in libmine.so; load the same file");
}

TEST_CASE("experiments that diverged, or whose task has another version, are trained again") {
  const TemporaryDirectory directory;
  REQUIRE(posbench_command(directory, kRun + "-s 1 -o one").code == 0);
  Json report = read_json(directory / "one/report.json");
  Json& diverged = report["experiments"][0];
  diverged["status"] = "diverged";
  diverged["reason"] = "the loss at step 1 is not finite";
  diverged["diverged_step"] = 1;
  diverged["final_loss"] = nullptr;
  diverged["splits"] = Json::array();
  write_run(directory, "old", report);
  REQUIRE(posbench_command(directory, kRun + "-s 1 --reuse old -o again").code == 0);
  CHECK(without_context(directory / "again/report.json") == without_context(directory / "one/report.json"));

  report = read_json(directory / "one/report.json");
  for (Json& task : report["tasks"]) task["version"] = 99;
  for (Json& experiment : report["experiments"]) experiment["task_version"] = 99;
  write_run(directory, "other", report);
  CHECK(posbench_command(directory, kRun + "-s 1 --reuse other -o new")
            .error.find("has no experiment of this run: the task has another version") != std::string::npos);
}

TEST_CASE("reproduce takes over the seeds of other directories, and trains as many as --seeds asks for") {
  const TemporaryDirectory directory;
  const std::string claim = "none-bidirectional-order";
  const ClaimPlan plan = plan_claims({claim}, ClaimSize::reduced);
  const size_t seeds = plan.runs.front().config.seeds.size();
  const std::string more = fmt::format("reproduce {} -q -s {} --with '{}' ", claim, seeds + 1, kKeptRuns.string());
  const Outcome planned = posbench_command(directory, more + "--dry-run");
  INFO(planned.error);
  CHECK(planned.code == 0);
  REQUIRE(posbench_command(directory, more + "-o more").code == 0);
  for (const ClaimRun& run : plan.runs) {
    INFO(run.name);
    const Report made = read_report(find_report(directory / ("more/" + run.name)));
    const Report kept = read_report(find_report(kKeptRuns / run.name));
    REQUIRE(made.experiments.size() == seeds + 1);
    for (size_t e = 0; e < seeds; ++e) CHECK(made.experiments[e] == kept.experiments[e]);
    CHECK(made.experiments.back().id.seed == seeds);
  }
  // More seeds than a claim needs are judged; fewer are not.
  CHECK(posbench_command(directory, "reproduce " + claim + " --judge-only -o more").code == 0);
  const Outcome fewer =
      posbench_command(directory, fmt::format("reproduce {} --judge-only -s {} -o more", claim, seeds + 2));
  CHECK(fewer.code == 2);
  CHECK(fewer.error.find(fmt::format("has {} of {} seeds; give another -o, and --with more to take over these",
                                     seeds + 1, seeds + 2)) != std::string::npos);
}
