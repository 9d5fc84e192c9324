// Sweeps: a grid of settings and options as one run.
#include "harness/config/sweep.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/runs/suite.h"
#include "results/reports/report_json.h"
#include "tests/catch.h"
#include "tests/harness/command.h"
#include "tests/harness/report_json.h"

using namespace posbench;

namespace {

RunConfig swept(const std::vector<std::string>& sweeps, const std::string& tasks = "flip_flop",
                const std::string& encodings = "rope") {
  return make_config({.profile = "smoke", .tasks = tasks, .encodings = encodings, .sweeps = sweeps});
}

template <class AnySpec>
std::vector<std::string> specs(const std::vector<SweptSpec<AnySpec>>& list) {
  std::vector<std::string> specs;
  for (const auto& each : list) specs.push_back(each.spec.text());
  return specs;
}

}  // namespace

TEST_CASE("a sweep is a grid of task specs with their settings, and of encodings") {
  const RunConfig config =
      swept({"model.width=32,64", "task.length=16,32", "encoding.positions=4,8"}, "flip_flop", "cope");
  CHECK(specs(swept_tasks(config)) ==
        std::vector<std::string>{"flip_flop:length=16,model.width=32", "flip_flop:model.width=32",
                                 "flip_flop:length=16,model.width=64", "flip_flop:model.width=64"});
  CHECK(specs(swept_encodings(config)) == std::vector<std::string>{"cope:positions=4", "cope:positions=8"});
  const Suite suite = make_suite(config);
  REQUIRE(suite.experiments.size() == 8);
  const Experiment& e = suite.experiments[3];
  CHECK(e.task->model_config.width == 32);
  CHECK(e.task->trained().lengths().max() == 32);
  CHECK(e.swept == Swept{.task = "flip_flop",
                         .encoding = "cope",
                         .values = {{"model.width", "32"}, {"task.length", "32"}, {"encoding.positions", "8"}}});
  CHECK(to_json(config_from_json(to_json(config), "test")) == to_json(config));
  CHECK(to_json(swept({}))["sweep"].is_null());
}

TEST_CASE("a swept option replaces the value that a spec gives it") {
  const RunConfig config = swept({"task.length=16,32", "encoding.positions=4,8"},
                                 "flip_flop:length=9,p_ignore=0.5", "learned_abs:positions=3,axial=true");
  CHECK(specs(swept_tasks(config)) == std::vector<std::string>{"flip_flop:length=16,p_ignore=0.5",
                                                               "flip_flop:p_ignore=0.5"});  // 32 is the default
  CHECK(specs(swept_encodings(config)) ==
        std::vector<std::string>{"learned_abs:positions=4,axial=true", "learned_abs:positions=8,axial=true"});
  CHECK(swept_encodings(config)[0].base.text() == "learned_abs:axial=true");
}

TEST_CASE("swept values that are lists or specs are in parentheses") {
  const RunConfig layers = swept({"encoding.of=(rope,none),(none,rope)"}, "flip_flop", "layers");
  CHECK(specs(swept_encodings(layers)) ==
        std::vector<std::string>{"layers", "layers:of=(none,rope)"});  // (rope,none) is the default
  const RunConfig base = swept({"encoding.base=rope,(rope:base=100)"}, "flip_flop", "sink_logit");
  CHECK(specs(swept_encodings(base)).back() == "sink_logit:base=(rope:base=100)");
}

TEST_CASE("swept values replace the overrides of a profile") {
  RunConfig config =
      make_config({.profile = "quick", .tasks = "flip_flop", .encodings = "rope", .sweeps = {"training.steps=7"}});
  CHECK(make_suite(config).tasks[0]->options.training.steps == 7);
}

TEST_CASE("a sweep of too many points is refused before it is expanded") {
  RunConfig config = make_config({.profile = "smoke", .tasks = "parity_check", .encodings = "none"});
  std::string values = "1e-3";
  for (int n = 1; n < 100; ++n) values += fmt::format(",{}e-5", n);
  for (const char* name : {"training.learning_rate", "training.warm_up", "training.clip", "training.weight_decay"})
    config.set_sweep(name, values);
  CHECK_THROWS_WITH(swept_tasks(config), ContainsSubstring("points, expected up to 4000000; sweep fewer values"));
}

TEST_CASE("a name that cannot be swept is refused with a message") {
  CHECK_THROWS_WITH(swept({"model.width"}),
                    Catch::Matchers::StartsWith("'model.width': expected NAME=VALUE,VALUE"));
  CHECK_THROWS_WITH(swept({"model.width="}), "sweep of model.width: expected values, as in 32,64,128");
  CHECK_THROWS_WITH(swept({"model.widht=32"}), Catch::Matchers::StartsWith("unknown option 'widht' of model"));
  CHECK_THROWS_WITH(make_suite(swept({"task.lenght=32"})),
                    Catch::Matchers::StartsWith("unknown option 'lenght' of task 'flip_flop'"));
  CHECK_THROWS_WITH(make_suite(swept({"encoding.positions=4"})),
                    Catch::Matchers::StartsWith("unknown option 'positions' of encoding 'rope'"));
  CHECK_THROWS_WITH(make_suite(swept({"task.length=16,16"})),
                    "the sweep has 'flip_flop:length=16' twice; give each value once");
}
