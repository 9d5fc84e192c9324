// Extension: a trained model under other encodings, as it is and after further training.
#include "harness/training/extension.h"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/runs/suite.h"
#include "harness/training/evaluate.h"
#include "harness/training/run_experiment.h"
#include "results/reports/experiment_json.h"
#include "results/reports/report_json.h"
#include "tests/catch.h"
#include "tests/harness/command.h"
#include "tests/harness/report_json.h"

using namespace posbench;

namespace {

RunConfig extended(const std::string& encodings, const std::string& extend,
                   const std::vector<std::string>& settings = {}, const std::vector<std::string>& sweeps = {}) {
  return make_config({.profile = "smoke",
                      .tasks = "flip_flop:length=16",
                      .encodings = encodings,
                      .extend = extend,
                      .settings = settings,
                      .sweeps = sweeps});
}

std::vector<std::string> labels(const RunConfig& config) {
  std::vector<std::string> labels;
  for (const ExperimentId& id : ids(make_suite(config).experiments)) labels.push_back(id.encoding);
  return labels;
}

std::vector<ExperimentResult> results(const RunConfig& config) {
  return *run_experiment(make_suite(config).experiments.at(0));
}

}  // namespace

TEST_CASE("extensions without and with further training are separate rows") {
  CHECK(labels(extended("rope", "none,interpolated:method=yarn")) ==
        std::vector<std::string>{"rope", "rope->none", "rope->interpolated:method=yarn"});
  CHECK(labels(extended("rope", "none,rope", {"extend.steps=3"})) ==
        std::vector<std::string>{"rope", "rope->none", "rope->none +3 steps", "rope->rope +3 steps"});
  CHECK(labels(extended("rope,alibi,cope", "rope->rope:base=500000,cope->none")) ==
        std::vector<std::string>{"rope", "rope->rope:base=500000", "alibi", "cope", "cope->none"});
  CHECK(
      labels(extended("rope", "rope->none", {}, {"encoding.base=100,1000"})) ==
      std::vector<std::string>{"rope:base=100", "rope:base=100->none", "rope:base=1000", "rope:base=1000->none"});
  const RunConfig config = extended("rope", "none", {"extend.steps=3", "extend.length=4x"});
  CHECK(to_json(config)["extend"] == Json{{"encodings", "none"}, {"steps", 3}, {"length", "4x"}});
  CHECK(to_json(config_from_json(to_json(config), "test")) == to_json(config));
  CHECK_FALSE(contains(to_json(extended("rope", "none")).dump(), "length\":\"\""));
  CHECK(make_suite(config).tasks[0]->further_training_task().lengths().max() == 64);
}

TEST_CASE("positions are removed and the model is trained further at the trained length, with several budgets") {
  const RunConfig config = extended("rope", "none", {"extend.length=1x"}, {"extend.steps=2,60"});
  const Suite suite = make_suite(config);
  CHECK(labels(config) == std::vector<std::string>{"rope", "rope->none", "rope->none +2 steps", "rope",
                                                   "rope->none", "rope->none +60 steps"});
  for (const auto& task : suite.tasks)
    CHECK(task->further_training_task().lengths().values() == std::vector<int>{16});
  const auto loss = [&](size_t n) { return run_experiment(suite.experiments.at(n))->at(2).final_loss; };
  CHECK(loss(1) < loss(0));
}

TEST_CASE("an extension by 'none' tests the trained parameters without an encoding") {
  const RunConfig config = extended("rope", "none,rope:base=77,interpolated:scale=1");
  const Suite suite = make_suite(config);
  const Experiment& e = suite.experiments.at(0);
  class Keeper final : public ExperimentObserver {
   public:
    void on_trained(const Experiment&, const Model&, const Parameters& parameters) override {
      trained = parameters;
    }
    Parameters trained;
  };
  Keeper keeper;
  const std::vector<ExperimentResult> found = *run_experiment(e, keeper);
  const Parameters& trained = keeper.trained;
  REQUIRE(found.size() == 4);
  CHECK(found[1].id.encoding == "rope->none");
  CHECK(found[1].extended == Extended{.parent = "rope", .encoding = "none"});
  CHECK(found[1].steps == 0);
  CHECK(found[1].final_loss == found[0].final_loss);
  const Model none = make_model(Spec{"none", {}}, e.task->model_config);
  REQUIRE(none.layout.flat_size() == trained.flat.size());
  SplitResult expected = evaluate(none, trained, e.task->stream({Purpose::test, e.task->splits[1].name, e.seed}),
                                  config.evaluation.sequences);
  expected.name = e.task->splits[1].name;
  expected.kind = SplitKind::out_of_distribution;
  CHECK(found[1].splits[1] == expected);
  CHECK(found[1].splits != found[0].splits);
  CHECK(found[2].splits != found[0].splits);
  CHECK(found[3].splits == found[0].splits);  // angles divided by 1
  for (const ExperimentResult& result : found) CHECK(experiment_from_json(to_json(result), "test") == result);
}

TEST_CASE("parameters that only the parent has are dropped") {
  const std::vector<ExperimentResult> found = results(extended("learned_abs", "none"));
  REQUIRE(found.size() == 2);
  CHECK(found[1].status == Status::ok);
  CHECK(found[1].parameters < found[0].parameters);
}

TEST_CASE("further training continues from the trained parameters, on new samples of the given length") {
  const auto loss = [&](const std::vector<std::string>& settings) {
    const std::vector<ExperimentResult> found = results(extended("rope", "rope", settings));
    REQUIRE(found.size() == 2);
    CHECK(found[1].steps == 7);
    CHECK(found[1].learning_curve.size() == 1);
    return *found[1].learning_curve[0].loss;
  };
  const std::vector<std::string> trained{"training.steps=200",
                                         "training.learning_rate=0.01",
                                         "training.batch=16",
                                         "training.warm_up=0.1",
                                         "extend.steps=7",
                                         "model.width=32",
                                         "training.validate_every=50"};
  const double after = loss(trained);
  std::vector<std::string> hardly = trained, longer = trained, swept = trained;
  swept[1] = "training.learning_rate=0.00001,0.01";  // the extension has the rate that was chosen
  CHECK(loss(swept) == after);
  hardly.front() = "training.steps=1";
  CHECK(after < loss(hardly));
  longer.push_back("extend.length=4x");
  CHECK(loss(longer) != after);
}

TEST_CASE("an extension of a diverged model has its status and names it") {
  const RunConfig config =
      extended("test_diverging", "none", {"training.learning_rate=0.01"});  // of learning_rates_test.cpp
  const std::vector<ExperimentResult> found = results(config);
  REQUIRE(found.size() == 2);
  REQUIRE(found[0].status == Status::diverged);
  CHECK(found[1].status == Status::diverged);
  CHECK(found[1].reason == "the model that it extends diverged: " + found[0].reason);
  CHECK(found[1].splits.empty());
}

TEST_CASE("impossible extensions are refused with a message") {
  using Catch::Matchers::StartsWith;
  CHECK_THROWS_WITH(
      labels(extended("rope", "cope")),
      StartsWith("extend.encodings: a model trained with 'rope' cannot be tested with 'cope': 'cope' needs "
                 "the parameter 'cope.") &&
          ContainsSubstring("and 'rope' does not have it"));
  CHECK_THROWS_WITH(labels(extended("cope:positions=4", "cope:positions=8")), ContainsSubstring("has it as"));
  CHECK_THROWS_WITH(labels(extended("rope", "nona")), StartsWith("unknown encoding 'nona'"));
  CHECK_THROWS_WITH(labels(extended("rope", "rope")),
                    StartsWith("extend.encodings: 'rope->rope' is the model itself"));
  CHECK_THROWS_WITH(labels(extended("rope", "none,none")), StartsWith("extend.encodings has 'rope->none' twice"));
  CHECK_THROWS_WITH(labels(extended("rope", "alibi->none")),
                    StartsWith("extend.encodings: 'alibi->none' extends 'alibi', which the run does not train"));
  CHECK_THROWS_WITH(labels(make_config({.profile = "smoke", .settings = {"extend.steps=3"}})),
                    StartsWith("extend.steps is set, but extend.encodings is empty"));
  CHECK_THROWS_WITH(labels(extended("rope", "none", {"extend.length=4x"})), StartsWith("extend.length is 4x"));
  CHECK_THROWS_WITH(labels(extended("rope", "none", {"extend.length=a", "extend.steps=2"})),
                    StartsWith("extend.length: "));
}

TEST_CASE("extensions give the same bytes whole, in merged shards, resumed, and from their report") {
  const TemporaryDirectory directory;
  const std::string command =
      "run --profile smoke -t flip_flop -e rope,alibi -s 2 --sweep model.width=16,32 --extend 'none,rope->interpolated' "
      "--set extend.steps=5 --set extend.length=2x -q ";
  const Outcome whole = posbench_command(directory, command + "--save-models -j 2 -o whole");
  CAPTURE(whole.error);
  REQUIRE(whole.code == 0);
  for (const std::string k : {"1", "2", "3"})
    succeeded(directory, command + "--save-models --shard " + k + "/3 -o shard" + k);
  succeeded(directory, "merge shard1 shard2 shard3 -o merged");
  succeeded(directory, "run --config whole/report.json -j 1 -q -o again");
  const Json json = without_context(directory / "whole/report.json");
  CHECK(json == without_context(directory / "merged/report.json"));
  CHECK(json.dump() == without_context(directory / "again/report.json").dump());
  REQUIRE(json["experiments"].size() == 2 * 2 * (5 + 3));
  CHECK(json["experiments"][2]["encoding"] == "rope->none +5 steps");
  CHECK(json["experiments"][2]["extends"] ==
        Json{{"parent", "rope"}, {"encoding", "none"}, {"steps", 5}, {"length", "2x"}});
  CHECK(json["experiments"][2]["swept"]["encoding"] == "rope->none +5 steps");

  // Killed between an experiment's line and those of its extensions.
  const std::string lines = read_whole(directory / "again/experiments.jsonl");
  const size_t second = lines.find('\n', lines.find('\n') + 1) + 1;
  directory.write("again/experiments.jsonl", lines.substr(0, second + 10));
  succeeded(directory, "run --config whole/report.json -j 1 -q -o again --resume");
  CHECK(json.dump() == without_context(directory / "again/report.json").dump());

  CHECK(contains(posbench_command(directory, "report whole --format csv").out, ",parent,further_steps,split"));
  const std::string shown = posbench_command(directory, "report whole -e 'rope->none +*'").out;
  CHECK((contains(shown, "rope->none +5 steps") && contains(shown, "\nrope ") && !contains(shown, "alibi")));
  succeeded(directory, "compare whole merged");
  succeeded(directory, "compare whole merged --match 'rope=rope->none'");
  const Outcome verified = posbench_command(directory, "check whole --sample 32");
  CHECK(contains(verified.out, "32 of 32 experiments agree"));
  const Outcome plan = posbench_command(directory, command + "--dry-run");
  CHECK(contains(plan.out, "32 experiments; about "));
  CHECK(contains(plan.out, "alibi and 2 of its extensions"));
}
