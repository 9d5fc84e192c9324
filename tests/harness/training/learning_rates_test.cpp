// Tests experiments with several learning rates, and the ends of training: early stopping and divergence.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "encodings/registry.h"
#include "harness/runs/suite.h"
#include "harness/training/learning_rate_sweep.h"
#include "harness/training/run_experiment.h"
#include "tests/catch.h"
#include "tests/harness/training/small_runs.h"

using namespace posbench;

namespace {

/// Adds log(a) of a learned a that training drives below zero: an encoding whose loss stops being finite.
class Diverging final : public PositionEncoding {
 public:
  using Options = NoOptions;
  Diverging(const Options&, const ModelConfig& config, ParameterLayout& layout)
      : PositionEncoding(config), a_(layout.constant("test_diverging.a", 1, config.width, 2e-3)) {}
  void embed(const Sequence&, const Parameters& p, const Tables&, Matrix& x, Matrices&) const override {
    for (Index c = 0; c < x.cols(); ++c) x.col(c).array() += std::log(p[a_](0, c));
  }
  void embed_backward(const Sequence&, const Parameters& p, const Tables&, const Matrix&, const Matrices&,
                      Matrix& d_x, Matrices&, Gradients& d) const override {
    for (Index c = 0; c < d_x.cols(); ++c) d[a_](0, c) += d_x.col(c).sum() / p[a_](0, c);
  }

 private:
  Parameter a_;
};

const RegisterEncoding<Diverging> registered{
    {.name = "test_diverging", .family = Family::absolute, .equation = "x += log(a)", .source = "this test"}};

}  // namespace

TEST_CASE("a loss that is not finite ends its experiment with the step, and the others continue") {
  RunConfig config = small_config("parity_check", "test_diverging,none");
  config.training.learning_rates = {0.01};
  const Suite suite = make_suite(config);
  Results observer;
  run_suite(suite.experiments, 1, std::stop_source(), observer);
  const std::vector<ExperimentResult>& results = observer.in_order;
  REQUIRE(results.size() == 2);
  CHECK(results[0].status == Status::diverged);
  REQUIRE(results[0].diverged_step);
  CHECK(*results[0].diverged_step == results[0].steps);
  CHECK(results[0].splits.empty());
  CHECK(results[1].status == Status::ok);
}

TEST_CASE("the learning rate that is best in validation is tested as if it were the only one") {
  RunConfig config = small_config("last_x_retrieval", "rope");
  config.training.steps = 60;
  config.training.batch = 16;
  const std::vector<double> rates = GENERATE(std::vector<double>{1e-6, 1e-2}, std::vector<double>{1e-3, 1e-2, 0.9},
                                             std::vector<double>{1e-7, 2e-7});  // the last differ in loss alone
  config.training.learning_rates = rates;
  const ExperimentResult result = run_alone(config);
  REQUIRE(result.status == Status::ok);
  REQUIRE(result.learning_rates.size() == rates.size());
  REQUIRE(result.learning_rate);
  std::vector<std::tuple<double, double, double>> ranks;
  std::optional<ExperimentResult> chosen;
  for (size_t n = 0; n < rates.size(); ++n) {
    config.training.learning_rates = {rates[n]};
    const ExperimentResult alone = run_alone(config);
    CHECK_FALSE(alone.learning_rate);
    CHECK(alone.learning_rates.empty());
    const CurvePoint& last = alone.learning_curve.back();
    CHECK(result.learning_rates[n] == RateResult{.learning_rate = rates[n],
                                                 .steps = 60,
                                                 .final_loss = last.loss,
                                                 .validation_token = last.validation_token,
                                                 .validation_sequence = last.validation_sequence});
    ranks.emplace_back(last.validation_sequence, last.validation_token, -*last.loss);
    if (rates[n] == *result.learning_rate) chosen = alone;
  }
  REQUIRE(chosen);
  CHECK(*result.learning_rate ==
        rates[static_cast<size_t>(std::max_element(ranks.begin(), ranks.end()) - ranks.begin())]);
  chosen->learning_rate = result.learning_rate;
  chosen->learning_rates = result.learning_rates;
  CHECK(result == *chosen);
}

TEST_CASE("a learning rate that diverges is not chosen, and if all diverge so does the experiment") {
  RunConfig config = small_config("parity_check", "test_diverging");
  config.training.learning_rates = {1e-6, 0.01};
  const ExperimentResult one = run_alone(config);
  CHECK(one.status == Status::ok);
  CHECK(one.learning_rate == 1e-6);
  CHECK(one.learning_rates.at(1).diverged_step == one.learning_rates.at(1).steps);
  CHECK_FALSE(one.learning_rates.at(1).final_loss);
  config.training.learning_rates = {0.001, 0.01};
  const ExperimentResult both = run_alone(config);
  CHECK(both.status == Status::diverged);
  CHECK(both.learning_rate == 0.001);  // which came further
  CHECK(both.diverged_step == both.learning_rates.at(0).diverged_step);
  CHECK(*both.diverged_step > *both.learning_rates.at(1).diverged_step);
  CHECK(both.splits.empty());
}

TEST_CASE("each learning rate may stop early") {
  RunConfig config = small_config("even_pairs:length=1", "none");  // the answer is always 0
  config.training.steps = 200;
  config.training.early_stop = 2;
  config.training.learning_rates = {1e-7, 0.01, 0.02};
  const ExperimentResult result = run_alone(config);
  CHECK(result.learning_rates.at(1).steps < 200);
  CHECK(result.learning_rates.at(2).steps < 200);
  CHECK(result.stopped_early);
  CHECK(*result.learning_rate > 1e-7);
}

TEST_CASE("tuning seeds choose the learning rate with the best mean validation") {
  const auto seed = [](double first, double second, std::optional<int> diverged = std::nullopt) {
    ExperimentResult result;
    result.learning_rates = {
        {.learning_rate = 1e-3, .steps = 60, .validation_token = first, .validation_sequence = first},
        {.learning_rate = 3e-3, .steps = 50, .validation_token = second, .validation_sequence = second}};
    if (diverged)
      result.learning_rates[1] = {.learning_rate = 3e-3, .steps = *diverged, .diverged_step = diverged};
    return result;
  };
  const auto choose = [](std::vector<ExperimentResult> seeds) {
    std::vector<const ExperimentResult*> all;
    for (const ExperimentResult& one : seeds) all.push_back(&one);
    return choose_rate(all);
  };
  CHECK(choose({seed(0.5, 0.7), seed(0.6, 0.3)}).learning_rate == 1e-3);
  CHECK(choose({seed(0.5, 0.7), seed(0.3, 0.3)}).learning_rate == 3e-3);
  CHECK(choose({seed(0.5, 0.5)}).learning_rate == 1e-3);
  const TunedRate tuned = choose({seed(0.1, 0.9), seed(0.3, 0.9, 7)});
  CHECK(tuned.learning_rate == 1e-3);
  CHECK(*tuned.tried.at(0).validation_sequence == Approx(0.2));
  CHECK(tuned.tried.at(1) == RateResult{.learning_rate = 3e-3, .steps = 7, .diverged_step = 7});
}

TEST_CASE("a shard has the tuning seeds of its tasks and encodings, and all of their seeds") {
  RunConfig config =
      make_config({.profile = "smoke", .tasks = "flip_flop,parity_check", .encodings = "none,rope,cope"});
  config.seeds = {4, 5};
  config.training.tuning_seeds = 3;
  CHECK_THROWS_WITH(make_suite(config),
                    Catch::Matchers::Contains("training.learning_rate has one value; give several"));
  config.training.learning_rates = {1e-3, 3e-3};
  std::map<std::pair<std::string, std::string>, int> shards;
  for (int index = 1; index <= 4; ++index) {
    const Suite suite = make_suite(config, {index, 4});
    CHECK(2 * suite.tuning.size() == 3 * suite.experiments.size());
    for (const Experiment& e : suite.experiments) {
      const auto [shard, is_new] = shards.emplace(std::pair(e.task->spec, e.encoding.text()), index);
      CHECK(shard->second == index);
      CHECK(std::ranges::count_if(suite.tuning, [&](const Experiment& of) { return is_tuned_by(e, of); }) == 3);
    }
  }
  CHECK(shards.size() == 6);
  config.seeds = {4, kFirstTuningSeed + 2};
  CHECK_THROWS_WITH(make_suite(config), Catch::Matchers::Contains("seed 1000000002 is a tuning seed"));
}
