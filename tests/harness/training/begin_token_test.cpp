// The option model.begin_token: a token before every sequence.
#include "harness/training/begin_token.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/runs/suite.h"
#include "harness/training/run_experiment.h"
#include "tasks/registry.h"
#include "tests/catch.h"
#include "tests/harness/command.h"
#include "tests/harness/report_json.h"
#include "tests/harness/training/small_runs.h"
#include "tests/temporary.h"

using namespace posbench;

namespace {

using Tokens = std::vector<int>;

ExperimentOptions options(bool causal, bool begin_token) {
  ExperimentOptions options;
  options.model.causal = causal;
  options.model.begin_token = begin_token;
  return options;
}

Tokens after(int first, Tokens rest) {
  rest.insert(rest.begin(), first);
  return rest;
}

Tokens one_more(Tokens values) {
  for (int& value : values) ++value;
  return values;
}

void check_moved(const Example& plain, const Example& moved, int begin) {
  REQUIRE(moved.tokens == after(begin, plain.tokens));
  REQUIRE(moved.targets == after(kIgnore, plain.targets));
  REQUIRE(moved.scored == one_more(plain.scored));
  REQUIRE(moved.evidence == one_more(plain.evidence));
  REQUIRE(moved.segments == after(0, one_more(plain.segments)));
  REQUIRE(moved.digit_positions == (plain.digit_positions.empty() ? Tokens{} : after(0, plain.digit_positions)));
  REQUIRE(moved.coordinates.size() == plain.coordinates.size());
  for (size_t n = 0; n < plain.coordinates.size(); ++n)
    REQUIRE(moved.coordinates[n] == after(0, plain.coordinates[n]));
  REQUIRE(moved.distances == plain.distances);
  REQUIRE(moved.candidates == plain.candidates);
  REQUIRE(moved.length == plain.length);
}

/// Checks that the first sample of a stream is that of another stream after a begin token.
void check_moved(const SampleStream& plain, const SampleStream& moved) {
  CAPTURE(plain.text);
  REQUIRE(moved.text == plain.text);
  const SampleStream::Sample before = plain(0), now = moved(0);
  CHECK(now.length == before.length);
  check_moved(before.example, now.example, plain.task.vocabulary());
}

}  // namespace

TEST_CASE("a begin token moves the examples of every task by one position and changes nothing else") {
  const bool causal = GENERATE(true, false);
  for (const std::string& name : tasks().names()) {
    const TaskInfo& info = tasks().find(name).info;
    const bool is_of_a_test = info.family.empty() || info.family == "test";
    if (is_of_a_test || name == "text") continue;  // text needs a file
    if (info.causal_only && !causal) continue;
    CAPTURE(name);
    const Spec spec = Spec::parse(name);
    const std::unique_ptr<Task> plain = make_task_for_model(spec, {}, options(causal, false)),
                                moved = make_task_for_model(spec, {}, options(causal, true));
    const int begin = plain->vocabulary();
    CHECK(moved->vocabulary() == begin + 1);
    CHECK(moved->outputs() == begin);
    CHECK(moved->answers() == plain->answers());
    CHECK(moved->chance_level() == plain->chance_level());
    CHECK(moved->entropy() == plain->entropy());
    CHECK(moved->lengths().values() == plain->lengths().values());
    CHECK(moved->token_text(begin) == "[begin]");
    CHECK(moved->token_text(begin - 1) == plain->token_text(begin - 1));
    for (const Purpose purpose : {Purpose::train, Purpose::test}) {
      for (std::uint64_t n = 0; n < 8; ++n) {
        Rng rng = make_rng(1, "begin", n), same = rng;
        const Example example = plain->sample_of(purpose, plain->lengths().draw(rng), rng);
        check_moved(example, moved->sample_of(purpose, moved->lengths().draw(same), same), begin);
        REQUIRE(validate(moved->sample(moved->lengths().max(), same), begin + 1, moved->answers()).empty());
      }
    }
  }
}

TEST_CASE("every stream of a model with a begin token has it") {
  const bool causal = GENERATE(true, false);
  ExperimentOptions settings = options(causal, false);
  settings.evaluation.grid = 8;
  settings.extend = {.encodings = "none", .steps = 2, .length = "2x"};
  settings.training.validate_splits = true;
  const std::string task = causal ? "flip_flop:length=16" : "addition";
  const TaskSetup plain = make_task_setup(settings, task);
  const TaskSetup moved =
      make_task_setup(settings, task + (task == "addition" ? ":" : ",") + "model.begin_token=true");
  CHECK(moved.model_config.vocabulary == plain.model_config.vocabulary + 1);
  CHECK(moved.model_config.trained_length == plain.model_config.trained_length + 1);
  CHECK(moved.model_config.longest == plain.model_config.longest + 1);
  for (const TaskInfo::Split& split : plain.splits)
    check_moved(plain.stream({Purpose::test, split.name, 5}), moved.stream({Purpose::test, split.name, 5}));
  for (const Purpose purpose : {Purpose::train, Purpose::further_training}) {
    const TrainingStreams before = plain.training_streams(purpose, 5), now = moved.training_streams(purpose, 5);
    check_moved(before.training, now.training);
    check_moved(before.validation, now.validation);
    REQUIRE(now.validated_splits.size() == before.validated_splits.size());
    for (size_t n = 0; n < now.validated_splits.size(); ++n)
      check_moved(before.validated_splits[n].second, now.validated_splits[n].second);
  }
  REQUIRE(plain.grids.size() == moved.grids.size());
  for (size_t n = 0; n < plain.grids.size(); ++n) {
    const TaskGrid &before = plain.grids[n], &now = moved.grids[n];
    REQUIRE(now.points.size() == before.points.size());
    check_moved(plain.grid_stream(before, before.points.back(), 5), moved.grid_stream(now, now.points.back(), 5));
  }
}

TEST_CASE("a configuration has model.begin_token only if it is true") {
  RunConfig config = small_config("parity_check", "none");
  const std::string default_config = to_json(config).dump();
  config.set("model.begin_token", "false");
  CHECK(to_json(config).dump() == default_config);
  CHECK_FALSE(contains(default_config, "begin_token"));
  config.set("model.begin_token", "true");
  CHECK(to_json(config)["model"]["begin_token"] == true);
  CHECK(config_from_json(to_json(config), "c.json").model.begin_token);
}

TEST_CASE("check, inspect, export and score follow model.begin_token") {
  const TemporaryDirectory directory;
  const std::string settings = " --set model.attention=bidirectional --set model.begin_token=true";
  REQUIRE(
      posbench_command(
          directory, "run --profile smoke -t parity_check -e none --extend alibi -q --save-models -o r" + settings)
          .code == 0);
  const Outcome verified = posbench_command(directory, "check r --sample 2");
  INFO(verified.out << verified.error);
  CHECK(verified.code == 0);

  const Outcome seen = succeeded(directory, "inspect r parity_check none --format json");
  const Json inspection = Json::parse(seen.out);
  const Json words = inspection.at("words");
  CHECK(words.at(0) == "[begin]");
  CHECK(inspection.at("scored") == Json{words.size() - 1});
  CHECK(inspection.at("maps").at(0).at("values").size() == words.size());
  succeeded(directory, "inspect r parity_check none --over 4");

  std::string answers;
  const Json splits = without_context(directory / "r/report.json").at("experiments").at(0).at("splits");
  for (const Json& split : splits) {
    const std::string name = split.at("name"), file = " " + name + ".safetensors";
    REQUIRE(posbench_command(directory, "export r parity_check none -n 8 --split " + name + " -o" + file).code ==
            0);
    answers += file;
  }
  const Outcome scored = succeeded(directory, "score" + answers + " -o scored.json");
  const Json again = Json::parse(read_whole(directory / "scored.json")).at("experiments").at(0).at("splits");
  REQUIRE(again.size() == splits.size());
  for (size_t n = 0; n < splits.size(); ++n) CHECK(again[n].at("token") == splits[n].at("token"));

  succeeded(directory, "export parity_check -n 1 -o x.jsonl" + settings);
  const Json manifest = Json::parse(read_whole(directory / "x.jsonl.manifest.json"));
  const int outputs = manifest.at("outputs");
  CHECK(manifest.at("vocabulary") == outputs + 1);
  CHECK(manifest.at("words").size() == static_cast<size_t>(outputs + 1));
  CHECK(manifest.at("words").back() == "[begin]");
  CHECK(Json::parse(read_whole(directory / "x.jsonl")).at("tokens").at(0) == outputs);
}
