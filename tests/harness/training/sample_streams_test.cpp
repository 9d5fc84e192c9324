#include <string>

#include "base/error.h"
#include "harness/runs/suite.h"
#include "harness/training/run_experiment.h"
#include "tests/catch.h"
#include "tests/harness/temporary.h"

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
