#include <fmt/format.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "harness/runs/suite.h"
#include "harness/training/make_model.h"
#include "harness/training/run_experiment.h"
#include "tests/catch.h"
#include "tests/temporary.h"

using namespace posbench;

namespace {

/// Returns the result of a short training on a text, with validation on all splits.
ExperimentResult train_on_text(const TemporaryDirectory& directory, const std::string& name,
                               const std::string& text) {
  const std::string file = directory.write(name, text).string();
  const Suite suite = make_suite(make_config({.profile = "smoke",
                                              .tasks = "text:length=8,file=" + file,
                                              .encodings = "none",
                                              .settings = {"training.validate_splits=true"}}));
  return run_experiment(suite.experiments.at(0))->front();
}

}  // namespace

TEST_CASE("the text of a stream names its purpose and its split") {
  const std::string split = "ood_length";
  CHECK(StreamId{Purpose::train}.text() == "train");
  CHECK(StreamId{Purpose::further_training}.text() == "train:further");
  CHECK(StreamId{Purpose::validation}.text() == "validation");
  CHECK(StreamId{Purpose::validation, split}.text() == "validation:ood_length");
  CHECK(StreamId{Purpose::test}.text() == "test:in_distribution");
  CHECK(StreamId{Purpose::test, split}.text() == "test:ood_length");
}

TEST_CASE("validation on the splits does not depend on the part of a text that is for tests") {
  const TemporaryDirectory directory;
  std::string text, other;
  for (int n = 0; n < 1000; ++n) {
    text += static_cast<char>('a' + n * n % 7);
    other += n < 900 ? text.back() : static_cast<char>('a' + n % 2);
  }
  const ExperimentResult one = train_on_text(directory, "one", text), two = train_on_text(directory, "two", other);
  REQUIRE(one.status == Status::ok);
  REQUIRE(one.learning_curve.front().splits.size() == 2);
  CHECK(one.learning_curve == two.learning_curve);
  CHECK(one.splits != two.splits);
}

TEST_CASE("a model expects the coordinates that the task states, and no split may change their number") {
  CHECK(make_task_setup({}, "addition").model_config.coordinates == 0);
  CHECK(make_task_setup({}, "multiplication").model_config.coordinates == 3);
  CHECK_THROWS_WITH(
      make_task_setup({}, TaskSpec::parse("multiplication"), {{"plain", {{"scratchpad", "false"}}, ""}}),
      "task 'multiplication': split 'plain' has 0 coordinates for each token and training 3, which a trained model cannot "
      "follow; leave out the options of the split that change this number");

  const TaskSetup setup = make_task_setup({}, "minesweeper");
  const Model model = make_model(Spec::parse("coupled"), setup.model_config);
  CHECK(model.layout.entries()[0].name == "coupled.table.0");
  CHECK(model.layout.entries()[1].name == "coupled.table.1");
  for (const PreparedSample& drawn :
       draw_batch(setup.stream({Purpose::validation}), *model.encoding, /*training=*/false, 0, 4)) {
    const std::vector<std::vector<int>>& stated = drawn.sample.example.coordinates;
    CHECK(drawn.sequence.coordinates == stated);
    for (size_t n = 0; n < 2; ++n)
      CHECK(drawn.sequence.positions.coordinate(n) == std::vector<Real>(stated[n].begin(), stated[n].end()));
  }
}

TEST_CASE("coordinates that are negative or do not belong to tokens make an example invalid") {
  Example e{.tokens = {0, 1}, .targets = {kIgnore, 1}, .scored = {1}, .segments = {0, 0}, .coordinates = {{1, 2}}};
  CHECK(validate(e, 2, 2).empty());
  e.coordinates = {{1, 2}, {1}};
  CHECK(validate(e, 2, 2) == "2 tokens, but 1 values of a coordinate");
  e.coordinates = {{1, -1}};
  CHECK(validate(e, 2, 2) == "the coordinate -1 at position 1 is negative");
}

TEST_CASE("targets, segments and digit positions whose number is not that of the tokens make an example invalid") {
  Example e{
      .tokens = {0, 1}, .targets = {kIgnore, 1}, .scored = {1}, .segments = {0, 0}, .digit_positions = {0, 1}};
  CHECK(validate(e, 2, 2).empty());
  e.digit_positions = {0, 1, 2};
  CHECK(validate(e, 2, 2) == "2 tokens, but 3 digit positions");
  e.segments = {0};
  CHECK(validate(e, 2, 2) == "2 tokens, but 2 targets and 1 segments");
}

TEST_CASE("a candidate that no answer can be makes an example invalid") {
  Example e{.tokens = {0, 1}, .targets = {kIgnore, 1}, .scored = {1}, .segments = {0, 0}, .candidates = {0, 1}};
  CHECK(validate(e, 3, 2).empty());
  for (const int id : {-1, 2}) {
    e.candidates = {id, 1};
    CHECK(validate(e, 3, 2) == fmt::format("candidate {} is outside the alphabet of 2 answers", id));
  }
}

TEST_CASE("a stream of a task has the settings of its purpose") {
  ExperimentOptions options;
  options.training.samples = 6;
  options.training.outputs = Outputs::answers;
  options.evaluation.loops = 3;
  options.extend = {.encodings = "none", .steps = 2, .length = "4"};
  const TaskSetup setup = make_task_setup(options, "even_pairs");
  const SampleStream train = setup.stream({Purpose::train}), validation = setup.stream({Purpose::validation}),
                     test = setup.stream({Purpose::test, "in_distribution", 5}, 7),
                     further = setup.training_streams(Purpose::further_training, 1).training;
  CHECK(train.distinct == 6);
  CHECK(further.distinct == 6);
  CHECK(validation.distinct == 0);
  CHECK(test.distinct == 0);
  CHECK(train.loops == 0);
  CHECK(validation.loops == 0);
  CHECK(test.loops == 3);
  CHECK(test.seed == 5);
  CHECK(test(0).length == 7);
  CHECK(&further.task == &setup.further_training_task());
  CHECK(&further.task != &setup.trained());
  CHECK(test.num_outputs() == setup.trained().answers());
  CHECK_THROWS_AS(setup.stream({Purpose::test, "ood_nothing"}), InputError);
}
