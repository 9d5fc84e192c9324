// Questions that are reserved for tests.
#include "harness/training/reserve.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <unordered_set>
#include <vector>

#include "harness/config/config.h"
#include "harness/runs/suite.h"
#include "harness/training/baselines.h"
#include "harness/training/make_model.h"
#include "harness/training/run_experiment.h"
#include "harness/training/task_setup.h"
#include "tasks/registry.h"
#include "tests/catch.h"

using namespace posbench;

namespace {

TaskSetup setup_with_reserve(const std::string& task, bool reserve = true) {
  ExperimentOptions options;
  options.training.reserve = reserve;
  return make_task_setup(options, task);
}

bool contains(const std::vector<int>& lengths, int length) {
  return std::ranges::find(lengths, length) != lengths.end();
}

double seconds_to_draw(const TaskSetup& setup, int count) {
  const Model model = make_model(Spec::parse("none"), setup.model_config);
  const SampleStream samples = setup.stream({Purpose::train});
  draw_batch(samples, *model.encoding, /*training=*/true, 0, count);
  const auto begin = std::chrono::steady_clock::now();
  draw_batch(samples, *model.encoding, /*training=*/true, 0, count);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

TEST_CASE("on every task training never draws a question that a test draws apart from exempt lengths") {
  constexpr int kTraining = 1500, kTests = 60;
  for (const std::string& name : tasks().names()) {
    if (name.starts_with("test_") || name == "text") continue;  // text needs a file
    CAPTURE(name);
    const TaskSetup setup = setup_with_reserve(name);
    const SampleStream training = setup.stream({Purpose::train});
    std::unordered_set<std::uint64_t> trained;
    const std::vector<int> exempt_in_training = setup.reserve->exempt_lengths(setup.trained());
    for (int n = 0; n < kTraining; ++n) {
      const SampleStream::Sample sample = training(n);
      trained.insert(question_hash(sample.example));
    }
    for (size_t split = 0; split < setup.splits.size(); ++split) {
      CAPTURE(setup.splits[split].name);
      const Task& task = *setup.tasks[split];
      const std::vector<int> exempt = setup.reserve->exempt_lengths(task);
      SampleStream tests = setup.stream({Purpose::test, setup.splits[split].name, 1});
      int seen = 0, tested = 0;
      for (int n = 0; n < kTests; ++n) {
        Rng rng = make_rng(0, "length", n);
        tests.length = task.lengths().draw(rng);
        if (contains(exempt, *tests.length) || contains(exempt_in_training, *tests.length)) continue;
        ++tested;
        seen += static_cast<int>(trained.contains(question_hash(tests(n).example)));
      }
      CHECK(seen == 0);
      CHECK((tested > 0 || !exempt.empty()));
    }
  }
}

TEST_CASE(
    "a tenth of the questions of a length is reserved, and lengths with fewer than 20 are exempt and named") {
  const TaskSetup setup = setup_with_reserve("reverse_string:length=1..10");
  CHECK(setup.reserve->exempt_lengths(setup.trained()) == std::vector<int>{1, 2, 3, 4});  // 2, 4, 8, 16 strings
  const SampleStream plain(setup.trained(), "any", 0);
  for (const int length : {5, 10}) {
    SampleStream samples = plain;
    samples.length = length;
    std::unordered_set<std::uint64_t> all, reserved;
    for (int n = 0; n < 20000; ++n) {
      const std::uint64_t hash = question_hash(samples(n).example);
      all.insert(hash);
      if (hash <= setup.reserve->limit(setup.trained(), length)) reserved.insert(hash);
    }
    CAPTURE(length, all.size(), reserved.size());
    CHECK(all.size() == size_t{1} << length);
    CHECK(10 * reserved.size() >= all.size());
    CHECK(10 * reserved.size() <= 2 * all.size());
    // Validation chooses among trained models, so it reads none of the questions of tests.
    for (const Purpose purpose : {Purpose::train, Purpose::validation, Purpose::test}) {
      SampleStream drawn = setup.stream({.purpose = purpose});
      drawn.length = length;
      for (int n = 0; n < 100; ++n)
        CHECK(reserved.contains(question_hash(drawn(n).example)) == (purpose == Purpose::test));
    }
  }
  const TaskBaseline baseline = measure_baselines(setup, 1000);
  CHECK(baseline.splits[0].exempt_lengths == std::vector<int>{1, 2, 3, 4});
  CHECK(*baseline.splits[0].seen_in_training > 0.3);  // the exempt lengths
  const TaskBaseline longer = measure_baselines(setup_with_reserve("reverse_string:length=5..10"), 1000);
  CHECK(longer.splits[0].seen_in_training == 0);
  CHECK(*measure_baselines(setup_with_reserve("reverse_string:length=5..10", false), 1000)
             .splits[0]
             .seen_in_training > 0.8);
}

TEST_CASE("a stored configuration without the setting draws the samples of older versions") {
  const TaskSetup with = setup_with_reserve("even_pairs"), without = setup_with_reserve("even_pairs", false);
  CHECK(without.reserve == nullptr);
  CHECK(!ExperimentOptions{}.training.reserve);
  CHECK(make_config({}).training.reserve);
  int same = 0;
  for (int n = 0; n < 100; ++n) {
    same += static_cast<int>(with.stream({Purpose::train})(n).example.tokens ==
                             without.stream({Purpose::train})(n).example.tokens);
  }
  CHECK(same > 75);  // the others are reserved
  CHECK(same < 100);
}

TEST_CASE("reserving questions takes less than a hundredth of a training step", "[.reserve_cost]") {
  for (const std::string task :
       {"flip_flop", "counting", "reverse_string:length=1..10", "even_pairs", "last_x_retrieval"}) {
    constexpr int kSteps = 100;
    RunConfig config = make_config({.tasks = task, .encodings = "none"});
    const Suite suite = make_suite(config);
    const TaskSetup& with = *suite.tasks[0];
    const TaskSetup without = setup_with_reserve(task, false);
    const int count = kSteps * with.options.training.batch;
    ExperimentOptions options = with.options;
    options.training.steps = kSteps;
    options.evaluation.sequences = 1;
    options.evaluation.grid = 0;
    const TaskSetup short_one = make_task_setup(options, task);
    const Spec none = Spec::parse("none");
    const auto begin = std::chrono::steady_clock::now();
    run_experiment({.task = &short_one, .encoding = none, .seed = 0});
    const double training = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    double more = 1e9;
    for (int n = 0; n < 5; ++n)
      more = std::min(more, seconds_to_draw(with, count) - seconds_to_draw(without, count));
    std::printf("%s: %.2f ms of %.1f ms, %.4f\n", task.c_str(), 1000 * more, 1000 * training, more / training);
    CHECK(more < 0.01 * training);
  }
}
