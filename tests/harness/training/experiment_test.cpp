// Tests the settings, the samples and the results of experiments.
#include <cmath>
#include <limits>
#include <map>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "harness/config/embedded_data.h"
#include "harness/runs/suite.h"
#include "harness/training/baselines.h"
#include "harness/training/evaluate.h"
#include "harness/training/run_experiment.h"
#include "harness/training/tally.h"
#include "tasks/parts/basic_task.h"
#include "tasks/parts/examples.h"
#include "tasks/registry.h"
#include "tests/catch.h"
#include "tests/harness/training/small_runs.h"

using namespace posbench;

namespace {

struct FaultyOptions {
  Integers length{3};
  void describe(OptionTable& o) { o.integers("length", length, 2, 10, "tokens"); }
};

/// Every fiftieth example has a token outside the vocabulary.
class Faulty final : public AlphabetTask<FaultyOptions, "012"> {
 public:
  using AlphabetTask::AlphabetTask;
  double chance_level() const override { return 0.5; }
  Example sample(int length, Rng& rng) const override {
    std::vector<int> question(length);
    if (uniform(rng, 0, 49) == 0) question[1] = 7;
    return ask(layout_, std::move(question), 2, {uniform(rng, 0, 1)});
  }
};

const RegisterTask<Faulty> registered_task{{.name = "test_faulty",
                                            .family = "test",
                                            .definition = "-",
                                            .source = "-",
                                            .splits = {{"in_distribution", {}, ""}}}};

}  // namespace

TEST_CASE("thirty steps lower the loss") {
  RunConfig config = small_config("last_x_retrieval", "rope");
  config.training.steps = 30;
  config.training.batch = 16;
  config.training.learning_rates = {0.01};
  config.training.validate_every = 10;
  const ExperimentResult result = run_alone(config);
  REQUIRE(result.status == Status::ok);
  REQUIRE(result.learning_curve.size() == 3);
  CHECK(*result.learning_curve[2].loss < *result.learning_curve[0].loss);
  CHECK(result.steps == 30);
  CHECK(result.splits.size() == 7);
}

TEST_CASE("an experiment that runs out of memory has no result") {
  const Suite suite = make_suite(small_config("parity_check", "none"));
  class NoMemory final : public ExperimentObserver {
    void on_step(const Experiment&, const LearningRateSweep&) override { throw std::bad_alloc(); }
    void on_progress(double cost) override { progress += cost; }

   public:
    double progress = 0;
  };
  NoMemory observer;
  CHECK_THROWS_AS(run_experiment(suite.experiments[0], observer), std::bad_alloc);
  CHECK(observer.progress == Approx(0).margin(1e-6 * suite.experiments[0].cost.all()));
}

TEST_CASE("outputs=answers predicts only answers") {
  RunConfig config = small_config("parity_check", "none");
  config.training.outputs = Outputs::answers;
  const ExperimentResult result = run_alone(config);
  REQUIRE(result.status == Status::ok);
  EigenMatrix logits(1, 3);
  logits << 1, 2, 9;  // 9: the blank, which is no answer
  CHECK(score_row(Matrix(logits), 0, 2, {}, 0).predicted == 1);
  CHECK(score_row(Matrix(logits), 0, 3, {}, 0).predicted == 2);
  // Loss of a uniform guess among two answers, not three tokens.
  CHECK(*result.learning_curve[0].loss < std::log(3.0));
}

TEST_CASE("every profile can be run") {
  for (const auto& [name, text] : profiles()) {
    CAPTURE(name);
    CHECK_FALSE(make_suite(make_config({.profile = name})).experiments.empty());
    const RunConfig small =
        make_config({.profile = name,
                     .seeds = "1",
                     .learning_rates = "1e-3",
                     .settings = {"model.layers=4", "model.width=16", "model.heads=2", "model.feed_forward=32",
                                  "training.steps=1", "training.batch=1", "training.validation_sequences=1",
                                  "evaluation.sequences=1"}});
    const Suite suite = make_suite(small);
    const size_t stride = suite.experiments.size() / 8 + 1;
    for (size_t n = 0; n < suite.experiments.size(); n += stride) {
      const Experiment& e = suite.experiments[n];
      CAPTURE(e.id().task, e.id().encoding);
      CHECK(run_experiment(e)->front().status == Status::ok);
    }
  }
}

TEST_CASE("under one seed encodings see the same samples and start from the same shared parameters") {
  const Suite suite = make_suite(small_config("flip_flop", "cope,learned_abs"));
  const ModelConfig& config = suite.tasks[0]->model_config;
  const Model cope = make_model(Spec{"cope", {}}, config), learned = make_model(Spec{"learned_abs", {}}, config);
  const Parameters a = initialize(cope.layout, 3), b = initialize(learned.layout, 3),
                   c = initialize(cope.layout, 4);
  int shared = 0;
  for (const auto& left : cope.layout.entries()) {
    for (const auto& right : learned.layout.entries()) {
      if (left.name != right.name) continue;
      CHECK(a[left.parameter] == b[right.parameter]);
      ++shared;
    }
  }
  CHECK(shared == 17);  // the embedding's, twelve of the block, two of the final normalization, two of the output
  CHECK(a.flat != c.flat);
  const SampleStream samples = suite.tasks[0]->stream({Purpose::train, kInDistribution, 3});
  const std::vector<PreparedSample> for_cope = draw_batch(samples, *cope.encoding, true, 10, 4),
                                    for_learned = draw_batch(samples, *learned.encoding, true, 10, 4);
  for (size_t n = 0; n < 4; ++n) CHECK(for_cope[n].sequence.tokens == for_learned[n].sequence.tokens);
}

#if defined(__SSE2__)
TEST_CASE("a thread flushes denormal numbers to zero while it trains, and not after") {
  const volatile Real least = std::numeric_limits<Real>::min(), denormal = least / 2, large = 1e20;
  const auto given = [&] { return Real(least / 2); };
  const auto taken = [&] { return Real(denormal * large); };
  RunConfig config = small_config("flip_flop", "alibi");
  config.training.steps = 1;
  const Suite suite = make_suite(config);
  const Model model = make_model(Spec{"alibi", {}}, suite.tasks[0]->model_config);
  TrainingState state(model, config.training, 0);
  const TrainingStreams streams = suite.tasks[0]->training_streams(Purpose::train, 0);
  REQUIRE(train(model, streams, config.training, state, [&](const TrainingState&) {
    CHECK(given() == 0);
    CHECK(taken() == 0);
    return true;
  }));
  CHECK(given() > 0);
  CHECK(taken() > 0);
}
#endif

TEST_CASE("incompatible settings are refused before anything runs") {
  RunConfig config = small_config("parity_check", "cope");
  config.model.causal = false;
  CHECK_THROWS_WITH(
      make_suite(config),
      "encoding 'cope' is defined for causal models only; set model.attention to causal or leave it out");
  config = small_config("flip_flop", "none");
  config.model.causal = false;
  CHECK_THROWS_AS(make_suite(config), InputError);
  config = small_config("parity_check", "none");
  config.model.heads = 5;
  CHECK_THROWS_WITH(make_suite(config), "width 16 is not a multiple of heads 5");
  config = small_config("parity_check", "rope");
  config.model.heads = 16;
  CHECK_THROWS_AS(make_suite(config), InputError);
  config = small_config("flip_flop:p_ignore=0.98", "none");
  CHECK_THROWS_WITH(make_suite(config),
                    Catch::Matchers::StartsWith("split 'ood_sparse' of 'flip_flop:p_ignore=0.98' is the "
                                                "training distribution itself (p_ignore=0.98)"));
  config.splits["flip_flop:p_ignore=0.98"] = {{"ood_sparse", {}, ""}};  // removed
  CHECK(make_suite(config).tasks[0]->splits.size() == 4);
  config.training.lengths = BatchLengths::same;
  config.training.batch = 4;
  config.training.samples = 6;
  CHECK_THROWS_WITH(make_suite(config),
                    Catch::Matchers::StartsWith("training.samples is 6, not a multiple of training.batch 4"));
}

TEST_CASE("trivial predictors have the accuracies of the reference") {
  const auto measured = [](const std::string& task, const std::string& split, const std::string& predictor) {
    const Suite suite = make_suite(small_config(task, "none"));
    for (const SplitBaseline& baseline : measure_baselines(*suite.tasks[0]).splits) {
      if (baseline.name == split) return baseline.trivial.at(predictor);
    }
    return std::nan("");
  };
  CHECK(measured("last_x_retrieval", "in_distribution", "last_token") == Approx(0.234).margin(0.03));
  CHECK(measured("bucket_sort:length=40", "in_distribution", "position") == Approx(0.78).margin(0.02));
  CHECK(measured("parity_check", "in_distribution", "constant") == Approx(0.5).margin(0.04));
}

TEST_CASE("default splits follow the trained lengths, and an impossible one is skipped and reported") {
  const TaskSetup longer = make_task_setup({}, "flip_flop:length=128"),
                  shorter = make_task_setup({}, "last_x_retrieval:length=16");
  CHECK(longer.tasks[find_split(longer, "ood_length")]->lengths().values() == std::vector<int>{512});
  CHECK(longer.skipped_splits.empty());
  CHECK(shorter.splits.size() == 6);
  CHECK(shorter.skipped_splits ==
        std::vector<std::string>{"split 'ood_far4': task 'last_x_retrieval': distance 16..30 needs more "
                                 "than 16 items; shorten it or lengthen length"});
  CHECK(shorter.splits[find_split(shorter, "ood_length_far")].options[1].second == "15..62");
  CHECK_THROWS_WITH(
      make_task_setup({}, TaskSpec::parse("last_x_retrieval:length=16"), {{"mine", {{"distance", "2x..4x"}}, ""}}),
      Catch::Matchers::StartsWith("split 'mine': "));
  const TaskBaseline baseline = measure_baselines(longer, 10);
  CHECK(baseline.splits[3].options == std::map<std::string, std::string>{{"length", "512"}});
}

TEST_CASE("evaluation records loss, margin and accuracy by position, which agree with each other") {
  const RunConfig config = small_config("reverse_string", "rope");
  const Suite suite = make_suite(config);
  const ExperimentResult result = run_experiment(suite.experiments[0])->front();
  for (const SplitResult& split : result.splits) {
    double loss = 0, margin = 0, by_length = 0;
    Count token;
    for (const PositionResult& at : split.by_position) {
      token += at.token;
      loss += *at.loss * static_cast<double>(at.token.total);
      margin += *at.margin * static_cast<double>(at.token.total);
    }
    for (const LengthResult& at : split.by_length) by_length += *at.loss * static_cast<double>(at.token.total);
    const double total = static_cast<double>(split.token.total);
    CHECK(token == split.token);
    CHECK(loss / total == Approx(*split.loss).margin(1e-5));
    CHECK(by_length / total == Approx(*split.loss).margin(1e-5));
    CHECK(margin / total == Approx(*split.margin).margin(1e-5));
  }
}

TEST_CASE("score_answer gives the prediction, the cross-entropy and the margin over what could be predicted") {
  const std::vector<double> logits{1, 3, 2};
  const double total = std::exp(1) + std::exp(3) + std::exp(2);
  const ScoredAnswer all = score_answer(logits, {}, 2), among = score_answer(logits, {0, 2}, 2);
  CHECK_FALSE(all.right);
  CHECK(all.loss == Approx(std::log(total) - 2));
  CHECK(all.margin == -1);
  CHECK(among.right);
  CHECK(among.loss == all.loss);
  CHECK(among.margin == 1);
}

TEST_CASE("a finite training set repeats in the same order, with fresh positions and dropout") {
  ExperimentOptions options;
  const TaskSetup setup = make_task_setup(options, "even_pairs");
  options.training.samples = 6;
  const TaskSetup small_setup = make_task_setup(options, "even_pairs");
  const Model model = make_model(Spec::parse("randomized"), setup.model_config);
  const StreamId id{Purpose::train, kInDistribution, 3};
  const SampleStream fresh = setup.stream(id), finite = small_setup.stream(id);
  const std::vector<PreparedSample> first = draw_batch(finite, *model.encoding, true, 0, 6),
                                    again = draw_batch(finite, *model.encoding, true, 6, 6);
  bool other_positions = false;
  for (size_t n = 0; n < 6; ++n) {
    CHECK(first[n].sample.example.tokens == again[n].sample.example.tokens);
    CHECK(again[n].index == first[n].index + 6);
    CHECK(first[n].sample.example.tokens == fresh(first[n].index).example.tokens);
    other_positions = other_positions || first[n].sequence.positions.at != again[n].sequence.positions.at;
  }
  CHECK(other_positions);
}
