// Options of blocks in a run: loops in testing, saved models, refusals.
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "harness/runs/suite.h"
#include "harness/training/run_experiment.h"
#include "tests/catch.h"
#include "tests/harness/command.h"
#include "tests/model/block_kinds.h"
#include "tests/temporary.h"

using namespace posbench;

namespace {

RunConfig modern(std::vector<std::string> more = {}) {
  more.insert(more.end(), {"model.norm_kind=rms_norm", "model.activation=swiglu", "model.biases=false",
                           "model.qk_norm=true", "model.window=6", "model.segment=5", "model.sinks=1",
                           "model.loops=2", "model.logit_scale=log_length"});
  return make_config({.profile = "smoke",
                      .tasks = "flip_flop",
                      .encodings = "sum:of=(cope,rope)",
                      .seeds = "2",
                      .settings = std::move(more)});
}

ExperimentResult run(const RunConfig& config) {
  const Suite suite = make_suite(config);
  return run_experiment(suite.experiments[0])->front();
}

}  // namespace

TEST_CASE("evaluation.loops changes what is tested, and neither training nor validation") {
  const ExperimentResult two = run(modern()), same = run(modern({"evaluation.loops=2"})),
                         three = run(modern({"evaluation.loops=3"}));
  CHECK(same.splits == two.splits);
  CHECK(three.learning_curve == two.learning_curve);
  CHECK(three.splits != two.splits);
}

TEST_CASE("saved models with options of blocks and combined encodings are read by export and inspect") {
  const TemporaryDirectory directory;
  const std::string encoding = "'layers:of=(rope,none)'";
  const std::string settings =
      "--set model.norm_kind=rms_norm --set model.activation=swiglu --set model.biases=false --set "
      "model.window=6 --set model.loops=2 --set evaluation.loops=3";
  succeeded(directory, "run --profile smoke -t flip_flop -e " + encoding +
                           " --set model.layers=2 -q --save-models -o r " + settings);
  succeeded(directory, "export r flip_flop " + encoding + " -n 4 -o logits.safetensors");
  succeeded(directory, "inspect r flip_flop " + encoding + " --format json");
  CHECK(contains(read_whole(directory / "r/report.json"), "\"window\""));
}

TEST_CASE("saved models with recurrent blocks give logits; inspect and export --maps refuse them") {
  const std::string block = GENERATE(from_range(block_kinds(/*recurrent=*/true)));
  const TemporaryDirectory directory;
  succeeded(directory,
            "run --profile smoke -t parity_check -e none --set model.layers=2 -q "
            "--save-models -o r --set model.block=" +
                block);
  succeeded(directory, "export r parity_check none -n 4 -o logits.safetensors");
  const std::string expected = "the model has model.block=" + block +
                               ", which has neither scores nor attention weights; choose a model with attention";
  for (const std::string command : {"inspect r parity_check none", "inspect r parity_check none --over 4",
                                    "export r parity_check none -n 4 --maps -o maps.safetensors"}) {
    const Outcome refused = posbench_command(directory, command);
    INFO(command << ": " << refused.error);
    CHECK(refused.code == 2);
    CHECK(contains(refused.error, expected));
  }
  CHECK_FALSE(std::filesystem::exists(directory / "maps.safetensors"));
}

TEST_CASE("a saved model with recurrent layers and attention has maps of its layers with attention") {
  const TemporaryDirectory directory;
  succeeded(directory,
            "run --profile smoke -t flip_flop -e rope -q --save-models -o r --set "
            "model.pattern=gated_delta:strength=2,attention --set model.convolution=a,b");
  CHECK(contains(read_whole(directory / "r/report.json"), "\"block\":\"gated_delta:strength=2,attention\""));
  const std::string maps = posbench_command(directory, "inspect r flip_flop rope --format json").out;
  CHECK(contains(maps, "\"layer\": 1"));
  CHECK_FALSE(contains(maps, "\"layer\": 0"));
  for (const std::string command : {"inspect r flip_flop rope --over 4", "inspect r flip_flop rope -o page.html",
                                    "export r flip_flop rope -n 4 --maps -o maps.safetensors"})
    succeeded(directory, command);
}

TEST_CASE("options of blocks that exclude each other are refused in one line") {
  const TemporaryDirectory directory;
  for (const auto& [options, reason] :
       {std::pair{"rope --set model.sinks=2",
                  "model.sinks is 2, and model.window, model.segment and model.chunk are 0"},
        {"rope --set model.block=attention --set model.feed_forward=8",
         "model.block=attention has no feed-forward"},
        {"none --set model.block=gated_delta --set model.convolution=b",
         "model.convolution has b, and no layer of"},
        {"deberta:shared_projections=true --set model.biases=false", "set model.biases to true"},
        {"'layers:of=(rope,none),every=4'", "set model.layers to 4 or more"}})
    CHECK_THAT(refusal(directory, std::string("run -t flip_flop --list-only -e ") + options),
               ContainsSubstring(reason));
}
