// Tests which reports can be compared, and the warnings about their differences.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <tuple>
#include <vector>

#include "results/statistics/compare.h"
#include "tests/catch.h"
#include "tests/results/comparisons.h"
#include "tests/results/fixtures.h"

using namespace posbench;

TEST_CASE("reports with another budget are refused with the reason, or compared with a warning on request") {
  const Report before = small_report();
  for (const auto& [pointer, value, reason] : {
           std::tuple<const char*, Json, const char*>{
               "/training/steps", 400, "config.training.steps is 200 in before.json and 400 in after.json"},
           {"/training/learning_rate", "0.001,0.003",
            "config.training.learning_rate is 0.001 in before.json and \"0.001,0.003\" in after.json"},
           {"/model", {{"width", 64}}, "config.model.layers is 2 in before.json and missing in after.json"},
           {"/overrides",
            {{"parity_check", {{"training.steps", 50}}}, {"counting", {{"training.steps", 400}}}},
            "config.overrides.counting is missing in before.json and an object in after.json"},
           {"/evaluation/layout", "slots",
            "config.evaluation.layout is missing in before.json and \"slots\" in after.json"},
           {"/training/groups", 2, "config.training.groups is missing in before.json and 2 in after.json"},
           {"/evaluation/loops", 8, "config.evaluation.loops is missing in before.json and 8 in after.json"},
       }) {
    Report other = before;
    other.config[Json::json_pointer(pointer)] = value;
    CHECK_THROWS_WITH(
        compare_one(before, other),
        fmt::format(
            "before.json and after.json cannot be compared: {} (--allow-different-budget compares what was "
            "trained in different ways)",
            reason));
    CHECK(compare_one(before, other, {.allow_different_budget = true}).warnings.at(0) == reason);
  }
  Report other = before;
  other.config["overrides"] = {{"parity_check", {{"training.steps", 50}}}};
  CHECK_NOTHROW(compare_one(before, other));  // neither has that task
}

TEST_CASE("reports of other tasks or encodings are refused with the reason") {
  const Report before = small_report();
  Report other = before;
  other.tasks[1].version = 3;
  CHECK_THROWS_WITH(
      compare_one(before, other, {.allow_different_budget = true}),
      "before.json and after.json cannot be compared: task 'counting' has version 2 in the first and 3 in "
      "the second, so its samples are others");
  other = before;
  for (ExperimentResult& experiment : other.experiments) experiment.id.encoding += "_renamed";
  CHECK_THROWS_WITH(compare_one(before, other),
                    "before.json and after.json cannot be compared: they have no task and encoding in common; "
                    "--match 'rope=rope_renamed' compares different encodings");
  for (ExperimentResult& experiment : other.experiments) experiment.id.task += ":items=5";
  for (TaskBaseline& task : other.tasks) task.task += ":items=5";
  CHECK_THROWS_WITH(
      compare_one(before, other),
      "before.json and after.json cannot be compared: they have no task in common; compare runs of the "
      "same tasks");
}

TEST_CASE("all settings that differ are warnings, and a refusal names the first five") {
  const Report before = small_report();
  Report other = before;
  other.config["model"] = {{"width", 128}, {"layers", 2}, {"heads", 4}};
  other.config["training"] = {{"steps", 400}, {"batch", 64}, {"learning_rate", 0.003}};
  other.config["evaluation"]["layout"] = "slots";
  const std::vector<std::string> all{
      "config.model.width is 64 in before.json and 128 in after.json",
      "config.model.heads is missing in before.json and 4 in after.json",
      "config.training.steps is 200 in before.json and 400 in after.json",
      "config.training.batch is 32 in before.json and 64 in after.json",
      "config.training.learning_rate is 0.001 in before.json and 0.003 in after.json",
      "config.evaluation.layout is missing in before.json and \"slots\" in after.json"};
  const std::vector<std::string> warnings = compare_one(before, other, {.allow_different_budget = true}).warnings;
  CHECK(std::vector(warnings.begin(), warnings.begin() + 6) == all);
  CHECK_THROWS_WITH(
      compare_one(before, other),
      fmt::format(
          "before.json and after.json cannot be compared: {} and 1 more (--allow-different-budget compares "
          "what was trained in different ways)",
          fmt::join(all.begin(), all.begin() + 5, ", ")));
}

TEST_CASE("the split shift must have the same range of positions") {
  Report before = small_report();
  before.config["evaluation"]["shift"] = 2;
  Report other = before;
  other.config["evaluation"]["shift"] = 3;
  CHECK_NOTHROW(compare_one(before, other));  // they do not have the split
  for (Report* report : {&before, &other}) report->tasks.front().splits.push_back({.name = "shift"});
  CHECK_THROWS_WITH(compare_one(before, other), ContainsSubstring("config.evaluation.shift is 2 in before.json"));
}

TEST_CASE("a split that both reports have must have the same definition") {
  const Report before = small_report();
  Report with_splits = before;
  with_splits.config["splits"] = {
      {"flip_flop", {{"ood_mine", {{"length", "64"}}}, {"ood_more", {{"length", "9"}}}}}};
  Report other = before;
  other.config["splits"] = {{"flip_flop", {{"ood_mine", {{"length", "65"}}}}}};
  CHECK_THROWS_WITH(
      compare_one(with_splits, other),
      "before.json and after.json cannot be compared: config.splits.flip_flop.ood_mine.length is \"64\" in "
      "before.json and \"65\" in after.json");
  CHECK_NOTHROW(compare_one(before, other));
  other.config["splits"] = {{"flip_flop", {{"ood_far", {{"length", "65"}}}}}};  // another than the task's own
  CHECK_THROWS_WITH(
      compare_one(before, other),
      "before.json and after.json cannot be compared: config.splits.flip_flop.ood_far is missing in before.json "
      "and an object in after.json");
  const auto of_spec = [&](const std::string& key) {
    Report report = before;
    report.config["splits"] = {{key, {{"ood_far", {{"length", "65"}}}}}};
    return report;
  };
  CHECK_NOTHROW(compare_one(of_spec("flip_flop"), of_spec("flip_flop:length=9")));  // the key may be either
}

TEST_CASE("a comparison without a candidate, or with an option out of its range, is refused") {
  const Report before = small_report();
  CHECK_THROWS_WITH(compare({"before.json", before}, {}), "there is no candidate to compare with the baseline");
  CHECK_THROWS_WITH(compare_one(before, before, {.alpha = 0}),
                    "--alpha is 0, expected a number above 0 and below 1");
  CHECK_THROWS_WITH(compare_one(before, before, {.threshold = -1}),
                    "--threshold is -1, expected a number from 0 to 1");
}

TEST_CASE("the order in which a config lists its members is no difference") {
  Report other = small_report();
  other.config["training"] = {{"learning_rate", 0.001}, {"batch", 32}, {"steps", 200}};
  CHECK_NOTHROW(compare_one(small_report(), other));
}

TEST_CASE("differences of machines, seeds and splits are warnings") {
  Report other = small_report();
  other.context["cpu"] = "c";
  other.context["host"] = "another name means nothing";
  other.context["versions"]["eigen"] = "3.5";
  other.config["evaluation"]["sequences"] = 10;
  for (TaskBaseline& task : other.tasks) task.splits[1].name = "ood_near";
  for (ExperimentResult& experiment : other.experiments) {
    if (experiment.id.seed == 7) experiment.id.seed = 8;
    if (experiment.status == Status::ok) experiment.splits[1].name = "ood_near";
  }
  CHECK(
      compare_one(small_report(), other).warnings ==
      std::vector<std::string>{
          "config.evaluation.sequences is 640 in before.json and 10 in after.json",
          "context.cpu is \"b\" in before.json and \"c\" in after.json",
          "context.versions.eigen is \"3.4\" in before.json and \"3.5\" in after.json",
          "split 'ood_far' of task 'flip_flop:length=9' is in before.json only",
          "split 'ood_far' of task 'counting' is in before.json only",
          "split 'ood_near' of task 'flip_flop:length=9' is in after.json only",
          "split 'ood_near' of task 'counting' is in after.json only", "seeds in before.json only: 7",
          "seeds in after.json only: 8",
          std::string(
              "4 of 4 rows have fewer than 5 seeds on a side, so no test can call them better or worse: seeds solve a task ") +
              "or do not, and so few could differ as much by chance; run with -s 5"});
}

TEST_CASE("a report whose training did not reserve questions for tests is compared with a warning") {
  const Report before = small_report();
  Report after = before;
  after.config["training"]["reserve"] = true;
  CHECK(compare_one(before, after).warnings.at(0) ==
        "before.json was made without training.reserve, so its training may have shown test samples");
  CHECK(compare_one(after, after).warnings == compare_one(before, before).warnings);
}
