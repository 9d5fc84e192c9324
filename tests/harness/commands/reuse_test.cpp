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

/// Changes an experiment in JSON to one that diverged.
void let_diverge(Json& experiment) {
  experiment["status"] = "diverged";
  experiment["reason"] = "the loss at step 1 is not finite";
  experiment["diverged_step"] = 1;
  experiment["final_loss"] = nullptr;
  experiment["splits"] = Json::array();
}

}  // namespace

TEST_CASE("a run that reuses two seeds of four has the results of a run of four, and names who trained them") {
  const TemporaryDirectory directory;
  succeeded(directory, kRun + "-s 2 -o two");
  succeeded(directory, kRun + "-s 4 -o four");
  Json two = read_json(directory / "two/report.json");
  two["context"]["commit"] = "of_two";
  two["experiments"][0]["parameters"] = 12345;  // shows that this experiment is not trained again
  write_run(directory, "old", two);

  const Outcome planned = posbench_command(directory, kRun + "-s 4 --reuse old --dry-run");
  CHECK(contains(planned.out, "\n4 experiments;"));
  succeeded(directory, kRun + "-s 4 --reuse old -o more");
  const Json more = read_json(directory / "more/report.json");
  CHECK(count_trained_by(more, "of_two") == 4);
  CHECK(more.at("experiments").at(0).at("parameters") == 12345);

  succeeded(directory, kRun + "-s 4 --reuse two -o same");
  CHECK(without_context(directory / "same/report.json") == without_context(directory / "four/report.json"));

  // A run that was taken over can be taken over again. It keeps the names of those who trained it.
  succeeded(directory, kRun + "-s 5 --reuse more -o five");
  const Json five = read_json(directory / "five/report.json");
  CHECK(count_trained_by(five, "of_two") == 4);
  CHECK(count_trained_by(five, more.at("context").at("commit")) == 4);
  CHECK(count_trained_by(five, "") == 2);
}

TEST_CASE("an interrupted run continues with --reuse, also if it was begun without it") {
  const TemporaryDirectory directory;
  succeeded(directory, kRun + "-s 3 -o three");
  const Json three = without_context(directory / "three/report.json");
  const std::string lines = read_whole(directory / "three/experiments.jsonl");
  directory.write("three/experiments.jsonl", lines.substr(0, lines.find('\n') + 1));
  std::filesystem::remove(directory / "three/report.json");
  succeeded(directory, kRun + "-s 2 -o two");
  succeeded(directory, "run -q --resume -o three --reuse two");
  CHECK(without_context(directory / "three/report.json") == three);
  const Json report = read_json(directory / "three/report.json");
  CHECK(count_trained_by(report, report.at("context").at("commit")) == 3);
}

TEST_CASE("run --reuse refuses what does not belong to the run, before it writes anything") {
  const TemporaryDirectory directory;
  succeeded(directory, kRun + "-s 1 -o one");
  const auto refused = [&](const std::string& arguments, const std::string& message) {
    const Outcome outcome = posbench_command(directory, kRun + arguments + " -o new");
    INFO(outcome.error);
    CHECK(outcome.code == 2);
    CHECK(contains(outcome.error, message));
    CHECK(!std::filesystem::exists(directory / "new"));
  };
  refused("-s 2 --reuse one --set training.steps=7", "one has no experiment of this run: training.steps was ");
  refused("-s 7,8 --reuse one", "one has no experiment of this run: it has other tasks, encodings or seeds");
  refused("-s 2 --reuse one --save-models", "this run saves models");
  CHECK(contains(posbench_command(directory, kRun + "-s 2 --reuse nothing -o new").error, "nothing"));

  Json report = read_json(directory / "one/report.json");
  report["context"]["plugins"]["libmine.so"] = {{"sha256", "0"}};
  write_run(directory, "plugin", report);
  refused("-s 2 --reuse plugin", "plugin was trained with the plug-in libmine.so; load the same file");
  report = read_json(directory / "one/report.json");
  report["context"]["trained_elsewhere"] = true;  // as `posbench score` writes it
  write_run(directory, "scored", report);
  refused("-s 2 --reuse scored", "scored is not the report of a run: its models were trained elsewhere");
  report = read_json(directory / "one/report.json");
  report["config"]["seeds"] = {3};
  write_run(directory, "changed", report);
  refused("-s 2 --reuse changed",
          "changed: experiment 'none on parity_check with seed 0' is not in the report's config");

  const std::string before = read_whole(directory / "one/experiments.jsonl");
  std::filesystem::create_symlink("one/report.json", directory / "link.json");
  for (const char* same : {"one", "one/report.json", "link.json"}) {
    const Outcome outcome = posbench_command(directory, kRun + "-s 2 -o one --force --reuse " + same);
    CHECK(outcome.code == 2);
    CHECK(contains(outcome.error, "is in the run that --force replaces"));
  }
  CHECK(read_whole(directory / "one/experiments.jsonl") == before);
}

TEST_CASE("experiments are trained again if they diverged, or if their task has another version or other splits") {
  const TemporaryDirectory directory;
  succeeded(directory, kRun + "-s 1 -o one");
  const Json one = read_json(directory / "one/report.json");
  Json report = one;
  report["context"]["commit"] = "old";
  let_diverge(report["experiments"][0]);
  write_run(directory, "old", report);
  succeeded(directory, kRun + "-s 1 --reuse old -o again");
  CHECK(count_trained_by(read_json(directory / "again/report.json"), "old") == 1);  // of two
  CHECK(contains(posbench_command(directory, "check again --sample 1").error, "again: commit old trained "));
  CHECK(without_context(directory / "again/report.json") == without_context(directory / "one/report.json"));

  const auto refused = [&](const std::string& reason) {
    write_run(directory, "other", report);
    CHECK(contains(posbench_command(directory, kRun + "-s 1 --reuse other -o new").error,
                   "other has no experiment of this run: " + reason));
  };
  report["experiments"][1] = report["experiments"][0];
  report["experiments"][1]["encoding"] = "rope";
  refused("its experiments diverged or failed");
  report = one;
  for (Json& task : report["tasks"]) task["version"] = 99;
  for (Json& experiment : report["experiments"]) experiment["task_version"] = 99;
  refused("task 'parity_check' had version 99 and now has ");
  report = one;
  report["tasks"][0]["splits"].erase(1);
  for (Json& experiment : report["experiments"]) experiment["splits"].erase(1);
  refused("task 'parity_check' has other splits now");
}

TEST_CASE("two runs give their experiments once, and shards take what they have") {
  const TemporaryDirectory directory;
  succeeded(directory, kRun + "-s 2 -o two");
  succeeded(directory, kRun + "-s 1,2 -o other");
  succeeded(directory, kRun + "-s 4 -o four");
  const std::string words = "run --profile smoke -t parity_check -e none,rope -s 4 ";
  const Outcome both = posbench_command(directory, words + "--reuse two --reuse other -o both");
  INFO(both.error);
  CHECK(contains(both.error, "two gives 4 of 8 experiments, trained by commit "));
  CHECK(contains(both.error, "other gives 2 of 8 experiments, trained by commit "));
  CHECK(contains(both.error, "; 2 of 8 experiments to run"));
  for (const std::string k : {"1", "2", "3", "4"})
    succeeded(directory, kRun + "-s 4 --reuse two --shard " + k + "/4 -o shard" + k);
  succeeded(directory, "merge -o merged shard1 shard2 shard3 shard4");
  for (const char* run : {"both", "merged"}) {
    INFO(run);
    CHECK(without_context(directory / (std::string(run) + "/report.json")) ==
          without_context(directory / "four/report.json"));
  }
  const Json merged = read_json(directory / "merged/report.json");
  CHECK(count_trained_by(merged, merged.at("context").at("commit")) == 4);
}

TEST_CASE("an experiment that is reused has its place in the sweep of the new run") {
  const TemporaryDirectory directory;
  const std::string run = "run -q --profile smoke -t parity_check -e rope -s 1 ",
                    sweep = "--sweep encoding.base=10000,500 ";
  succeeded(directory, run + "-o plain");
  succeeded(directory, run + sweep + "-o swept");
  succeeded(directory, run + sweep + "--reuse plain -o from_plain");
  succeeded(directory, run + "--reuse swept -o from_swept");
  CHECK(without_context(directory / "from_plain/report.json") == without_context(directory / "swept/report.json"));
  CHECK(without_context(directory / "from_swept/report.json") == without_context(directory / "plain/report.json"));
}

TEST_CASE("an experiment is reused with all its extensions, or not at all") {
  const TemporaryDirectory directory;
  const std::string run = "run -q --profile smoke -t parity_check -e rope --extend none,alibi ";
  succeeded(directory, run + "-s 1 -o one");
  succeeded(directory, run + "-s 2 -o two");
  succeeded(directory, run + "-s 2 --reuse one -o more");
  CHECK(without_context(directory / "more/report.json") == without_context(directory / "two/report.json"));
  const Json more = read_json(directory / "more/report.json");
  CHECK(count_trained_by(more, more.at("context").at("commit")) == 3);
  // A run that has the model and lacks an extension trains the model again.
  const std::string lines = read_whole(directory / "one/experiments.jsonl");
  directory.write("one/experiments.jsonl", lines.substr(0, lines.find('\n') + 1));
  Json part = read_json(directory / "one/report.json");
  std::filesystem::remove(directory / "one/report.json");
  succeeded(directory, "run -q --resume -o one --reuse more");
  const Json one = read_json(directory / "one/report.json");
  CHECK(one.at("experiments") == part.at("experiments"));
  CHECK(count_trained_by(one, "") == 3);
  part["experiments"].erase(2);
  write_run(directory, "part", part);
  CHECK(contains(posbench_command(directory, run + "-s 2 --reuse part -o new").error,
                 "part has no experiment of this run: its extensions are not finished"));
}

TEST_CASE("reproduce takes over the seeds of other directories, and trains as many as --seeds asks for") {
  const TemporaryDirectory directory;
  const std::string claim = "none-bidirectional-order";
  const ClaimPlan plan = plan_claims({claim}, ClaimSize::reduced);
  const size_t seeds = plan.runs.front().config.seeds.size();
  const std::string more = fmt::format("reproduce {} -q -s {} --with '{}' ", claim, seeds + 1, kKeptRuns.string());
  succeeded(directory, more + "--dry-run");
  succeeded(directory, more + "-o more");
  for (const ClaimRun& run : plan.runs) {
    INFO(run.name);
    const Report made = read_report(find_report(directory / ("more/" + run.name)));
    const Report kept = read_report(find_report(kKeptRuns / run.name));
    REQUIRE(made.experiments.size() == seeds + 1);
    for (size_t e = 0; e < seeds; ++e) CHECK(made.experiments[e] == kept.experiments[e]);
    CHECK(made.experiments.back().id.seed == seeds);
  }
  std::filesystem::create_directory(directory / "empty");
  const Outcome none = posbench_command(directory, fmt::format("reproduce {} --dry-run -o more --with empty",
                                                               claim));  // the runs in -o are finished
  CHECK(contains(none.error,
                 "note: --with empty has no run of these claims; expected the -o of 'posbench reproduce', with "
                 "a folder " +
                     plan.runs.front().name));
  CHECK(contains(none.out, "; about 0 s of core time"));
  const Outcome not_comparable = succeeded(directory, "reproduce none-bucket-sort --full --dry-run");
  CHECK(contains(not_comparable.out, "1 claim, 0 runs; about 0 s of core time"));
  // A run that was interrupted with fewer seeds is refused before anything is trained.
  const std::string name = plan.runs.back().name;
  std::filesystem::create_directories(directory / "part");
  std::filesystem::copy(directory / ("more/" + name), directory / ("part/" + name));
  std::filesystem::remove(directory / ("part/" + name + "/report.json"));
  for (const char* words : {"", " --dry-run"}) {
    const Outcome part =
        posbench_command(directory, fmt::format("reproduce {} -s {} -o part{}", claim, seeds + 2, words));
    CHECK(part.code == 2);
    CHECK(contains(part.error, "cannot be continued: seeds"));
  }
  // More seeds than a claim needs are judged; fewer are not.
  succeeded(directory, "reproduce " + claim + " --judge-only -o more");
  const Outcome fewer =
      posbench_command(directory, fmt::format("reproduce {} --judge-only -s {} -o more", claim, seeds + 2));
  CHECK(fewer.code == 2);
  CHECK(contains(fewer.error, fmt::format("has {} of {} seeds; train the others with another -o and --with more",
                                          seeds + 1, seeds + 2)));
  // The settings of a run in --with matter only if -o does not have the run.
  std::filesystem::copy(directory / "more", directory / "other", std::filesystem::copy_options::recursive);
  Json report = read_json(directory / ("other/" + name + "/report.json"));
  report["config"]["evaluation"]["sequences"] = 1;
  directory.write("other/" + name + "/report.json", report.dump());
  succeeded(directory, fmt::format("reproduce {} -q -o more --with other", claim));
  const Outcome other =
      posbench_command(directory, fmt::format("reproduce {} --judge-only -o empty --with other", claim));
  CHECK(other.code == 2);
  CHECK(contains(other.error, "has other settings than its claims: evaluation.sequences"));
}
