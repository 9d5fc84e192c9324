// Tests that results depend on the number of groups of a batch, and not on the number of threads.
#include <atomic>
#include <chrono>
#include <new>
#include <nlohmann/json.hpp>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "base/thread_pool.h"
#include "harness/runs/suite.h"
#include "harness/training/evaluate.h"
#include "harness/training/run_experiment.h"
#include "tasks/parts/basic_task.h"
#include "tasks/parts/examples.h"
#include "tasks/registry.h"
#include "tests/catch.h"
#include "tests/harness/training/small_runs.h"

using namespace posbench;

namespace {

/// A task with memory for one example at a time.
class Memory final : public AlphabetTask<LengthOption<"tokens", 3>, "012"> {
 public:
  using AlphabetTask::AlphabetTask;
  double chance_level() const override { return 0.5; }
  Example sample(int length, Rng& rng) const override {
    const int others = running_++;
    std::this_thread::sleep_for(std::chrono::microseconds(300));
    --running_;
    if (others > 0) {
      ++refusals;
      throw std::bad_alloc();
    }
    return ask(layout_, std::vector<int>(static_cast<size_t>(length)), 2, {uniform(rng, 0, 1)});
  }

  static inline std::atomic<int> refusals = 0;

 private:
  static inline std::atomic<int> running_ = 0;
};

const RegisterTask<Memory> registered_task{{.name = "test_memory",
                                            .family = "test",
                                            .definition = "-",
                                            .source = "-",
                                            .splits = {{"in_distribution", {}, ""}}}};

/// A pool of threads with a core for each.
struct Threads {
  explicit Threads(int count) : cores(count - 1), pool(count, cores) {}
  IdleCores cores;
  ThreadPool pool;
};

RunConfig grouped(const std::string& task, const std::string& encoding, int groups) {
  RunConfig config = small_config(task, encoding);
  config.training.steps = 12;
  config.training.batch = 8;
  config.training.validate_every = 5;
  config.training.groups = groups;
  return config;
}

std::vector<ExperimentResult> run_with(const Suite& suite, int threads) {
  Threads some(threads);
  ExperimentObserver none;
  return *run_experiment(suite.experiments.at(0), none, {}, some.pool);
}

/// Returns the parameters after training.
Vector train_with(const Suite& suite, int threads) {
  Threads some(threads);
  const Experiment& e = suite.experiments.at(0);
  const Model model = make_model(e.encoding, e.task->model_config);
  TrainingState state(model, e.training(), e.seed);
  train(model, e.task->training_streams(Purpose::train, e.seed), e.training(), state, {}, some.pool);
  return state.parameters.flat;
}

}  // namespace

TEST_CASE("parameters and results have the same bytes for any number of threads, with any number of groups") {
  struct Case {
    std::string task, encoding;
    double dropout;
    std::string block = "sequential";
  };
  for (const Case& c : {Case{"flip_flop", "cope", 0}, Case{"flip_flop", "rope", 0.1},
                        Case{"reverse_string", "randomized", 0}, Case{"reverse_string", "t5_bias", 0.1},
                        Case{"last_x_retrieval", "shaw_kv", 0}, Case{"flip_flop", "none", 0, "lstm"}}) {
    for (const int groups : {1, 2, 4, 8}) {
      CAPTURE(c.task, c.encoding, groups);
      RunConfig config = grouped(c.task, c.encoding, groups);
      config.model.dropout = c.dropout;
      config.model.block = {c.block};
      const Suite suite = make_suite(config);
      const std::vector<ExperimentResult> one = run_with(suite, 1);
      REQUIRE(one[0].status == Status::ok);
      const Vector trained = train_with(suite, 1);
      for (const int threads : {2, 3}) {
        CHECK(run_with(suite, threads) == one);
        CHECK(train_with(suite, threads) == trained);
      }
    }
  }
}

TEST_CASE("the number of groups changes the rounding of training, and not its samples") {
  const auto trained = [](int groups) { return train_with(make_suite(grouped("flip_flop", "cope", groups)), 2); };
  const Vector one = trained(1), four = trained(4);
  CHECK(one != four);
  CHECK((one - four).norm() < 1e-3 * one.norm());
  CHECK(trained(8) == trained(4096));  // groups without a sequence change nothing
}

TEST_CASE("a test of a model has the same bytes for any number of threads") {
  for (const std::string encoding : {"cope", "randomized", "fire", "dape", "kerple_log"}) {
    CAPTURE(encoding);
    const Suite suite = make_suite(small_config("reverse_string", encoding));
    const Experiment& e = suite.experiments[0];
    const Model model = make_model(e.encoding, e.task->model_config);
    const Parameters parameters = initialize(model.layout, 0);
    const SampleStream samples = e.task->stream({Purpose::test, e.task->splits.back().name, 0});
    const SplitResult one = evaluate(model, parameters, samples, 150);
    for (const int threads : {2, 3, 5}) {
      Threads some(threads);
      CHECK(evaluate(model, parameters, samples, 150, {}, some.pool) == one);
    }
  }
}

TEST_CASE("an experiment that runs out of memory with several threads is repeated with one") {
  const Suite suite = make_suite(grouped("test_memory", "none", 2));
  for (const int threads : {1, 3}) {
    Results observer;
    Memory::refusals = 0;
    run_suite(suite.experiments, 1, std::stop_source(), observer, threads);
    CHECK((Memory::refusals > 0) == (threads > 1));
    REQUIRE(observer.in_order.size() == 1);
    CHECK(observer.in_order[0].status == Status::ok);
  }
}

TEST_CASE("the first faulty example of a batch is named, for any number of threads") {
  RunConfig config = grouped("test_faulty", "none", 1);
  config.training.batch = 64;  // examples 35, 46 and 57 are faulty
  const ExperimentResult result = run_with(make_suite(config), 1).at(0);
  CHECK(result.status == Status::failed);
  CHECK_THAT(result.reason, ContainsSubstring("example 35 of 'train' is faulty: token 7 at position 1 is outside "
                                              "the vocabulary of 3"));
  config.training.groups = 2;
  for (const int threads : {1, 2, 3}) CHECK(run_with(make_suite(config), threads).at(0).reason == result.reason);
}

TEST_CASE("a configuration states the number of groups, and one without it means one group") {
  const RunConfig one = make_config({.profile = "smoke"}),
                  four = make_config({.profile = "smoke", .settings = {"training.groups=4"}});
  CHECK(one.training.groups == 1);
  CHECK_FALSE(to_json(one)["training"].contains("groups"));
  CHECK(to_json(four)["training"]["groups"] == 4);
  CHECK(config_from_json(to_json(four), "config").training.groups == 4);
  CHECK_THROWS_WITH(make_config({.profile = "smoke", .settings = {"training.groups=0"}}),
                    ContainsSubstring("expected an integer from 1 to 4096"));
}
