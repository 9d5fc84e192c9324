// The fraction of test samples that are also training samples is that of a count by hand.
#include "harness/training/baselines.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "harness/config/config.h"
#include "harness/runs/suite.h"
#include "harness/training/samples.h"
#include "harness/training/task_setup.h"
#include "tests/catch.h"

using namespace posbench;

namespace {

using Tokens = std::vector<int>;
using Sample = std::pair<Tokens, Tokens>;

Sample sample_of(const Example& e) { return {e.tokens, e.targets}; }

/// Counts the samples of a split that are among the first training samples, by comparing tokens.
double counted(const TaskSetup& setup, int training_samples, size_t split, int samples) {
  SampleStream training = setup.stream({Purpose::train});
  const SampleStream test(*setup.tasks[split], "baseline:" + setup.splits[split].name, 0);
  const TrainingOptions& options = setup.options.training;
  std::set<Sample> trained;
  for (int n = 0; n < training_samples; ++n) {
    if (options.lengths == BatchLengths::same)
      training.length = length_of_batch(training, n / options.batch, options.batch);
    trained.insert(sample_of(training(n).example));
  }
  int seen = 0;
  for (int n = 0; n < samples; ++n) seen += static_cast<int>(trained.count(sample_of(test(n).example)));
  return static_cast<double>(seen) / samples;
}

ExperimentOptions trained_on(int steps, int batch, int samples = 0) {
  ExperimentOptions options;
  options.training.steps = steps;
  options.training.batch = batch;
  options.training.samples = samples;
  return options;
}

}  // namespace

TEST_CASE("the fraction of samples seen in training is counted among the samples that the run draws") {
  for (const std::string task : {"parity_check", "reverse_string", "counting"}) {
    const TaskSetup setup = make_task_setup(trained_on(50, 8), task);
    const TaskBaseline baseline = measure_baselines(setup, 500);
    CHECK(baseline.training_samples == 400);
    for (size_t split = 0; split < setup.splits.size(); ++split)
      CHECK(baseline.splits[split].seen_in_training == counted(setup, 400, split, 500));
  }
  ExperimentOptions same = trained_on(50, 8);
  same.training.lengths = BatchLengths::same;
  const TaskSetup setup = make_task_setup(same, "parity_check");
  CHECK(measure_baselines(setup, 500).splits[0].seen_in_training == counted(setup, 400, 0, 500));
}

TEST_CASE("a finite training set and a short training have few training samples") {
  CHECK(num_training_samples(trained_on(1000, 32).training) == 20000);
  CHECK(num_training_samples(trained_on(10, 4).training) == 40);
  CHECK(num_training_samples(trained_on(1000, 32, 64).training) == 64);
  CHECK(num_training_samples(trained_on(1, 32, 64).training) == 32);
  CHECK(num_training_samples(trained_on(1'000'000'000, 4096).training, 5) == 5);
}

TEST_CASE("one task with two numbers of training samples is measured for each") {
  RunConfig config;
  config.tasks = {TaskSpec::parse("parity_check"), TaskSpec::parse("parity_check:training.steps=3")};
  config.encodings = {Spec::parse("none")};
  config.seeds = {0};
  const std::vector<TaskBaseline> baselines = measure_baselines(make_suite(config), 1);
  REQUIRE(baselines.size() == 2);
  CHECK(baselines[0].training_samples == 20000);
  CHECK(baselines[1].training_samples == 3 * 32);
  CHECK(*baselines[0].splits[0].seen_in_training > *baselines[1].splits[0].seen_in_training);
}
