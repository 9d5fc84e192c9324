// Tests the samples, the learning rates, the dropout and the validations of a training.
#include <cstdint>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "harness/runs/suite.h"
#include "harness/training/baselines.h"
#include "harness/training/evaluate.h"
#include "harness/training/run_experiment.h"
#include "harness/training/train.h"
#include "model/optimizer.h"
#include "results/reports/experiment_json.h"
#include "results/types/learning_curve.h"
#include "tasks/parts/examples.h"
#include "tests/catch.h"
#include "tests/harness/training/small_runs.h"

using namespace posbench;

namespace {

/// Asks for the purpose of the sample, which the question does not tell, and records what is drawn.
class Recording final : public Task {
 public:
  struct Options {
    Integers length{2, 4};
    void describe(OptionTable& o) { o.integers("length", length, 1, 10, "tokens"); }
  };
  Recording(const Options& options, Layout layout) : options_(options), layout_(layout) {}
  int vocabulary() const override { return 6; }
  double chance_level() const override { return 0.25; }
  const Integers& lengths() const override { return options_.length; }
  std::string token_text(int token) const override { return std::to_string(token); }
  Example sample(int length, Rng& rng) const override { return sample_of(Purpose::test, length, rng); }
  Example sample_of(Purpose purpose, int length, Rng& rng) const override {
    if (lengths_of_training && purpose == Purpose::train) lengths_of_training->push_back(length);
    std::vector<int> question = uniform_tokens(rng, length, 0, 1);
    return ask(layout_, std::move(question), 5, {static_cast<int>(purpose)});
  }

  static inline std::vector<int>* lengths_of_training = nullptr;

 private:
  Options options_;
  Layout layout_;
};

const RegisterTask<Recording> registered{
    {.name = "test_recording",
     .family = "test",
     .definition = "-",
     .source = "-",
     .splits = {{"in_distribution", {}, ""}, {"ood_length", {{"length", "7"}}, ""}}}};

/// A task and a model with everything that `train` needs.
struct Trainee {
  explicit Trainee(const std::string& task, const std::vector<std::string>& settings = {}) {
    ExperimentOptions all;
    all.model.layers = 1;
    all.model.width = 16;
    all.model.heads = 2;
    all.training.steps = 12;
    all.training.batch = 4;
    all.training.learning_rates = {0.01};
    all.training.validate_every = 4;
    all.training.validation_sequences = 8;
    for (const std::string& setting : settings) {
      const size_t equals = setting.find('=');
      all.set(setting.substr(0, equals), setting.substr(equals + 1));
    }
    setup.emplace(make_task_setup(all, task));
    model.emplace(make_model(Spec{"learned_abs", {}}, setup->model_config));
    streams.emplace(setup->training_streams(Purpose::train, 3));
  }
  const TrainingOptions& options() const { return setup->options.training; }
  TrainingState start() const { return TrainingState(*model, options(), 3); }
  /// Makes one update.
  void step(TrainingState& state) const { step(state, options()); }
  void step(TrainingState& state, const TrainingOptions& options) const {
    train(*model, *streams, options, state, [](const TrainingState&) { return false; });
  }

  std::optional<TaskSetup> setup;
  std::optional<Model> model;
  std::optional<TrainingStreams> streams;
};

/// Returns the different losses of the first `steps` steps.
std::set<double> losses_of(const Trainee& trainee, int steps) {
  TrainingState state = trainee.start();
  std::set<double> losses;
  for (int step = 0; step < steps; ++step) {
    trainee.step(state);
    losses.insert(state.loss);
  }
  return losses;
}

/// Returns whether the next update has the learning rate `rate`.
bool updates_with(const Trainee& trainee, const TrainingState& before, double rate) {
  TrainingState by_schedule = before, by_rate = before;
  trainee.step(by_schedule);
  TrainingOptions constant = trainee.options();
  constant.decay = Decay::constant;
  constant.warm_up = 0;
  by_rate.learning_rate = rate;
  trainee.step(by_rate, constant);
  return by_schedule.parameters.flat == by_rate.parameters.flat;
}

/// Returns the answers of the samples of a stream.
std::set<int> answers(const SampleStream& samples) {
  std::set<int> answers;
  for (std::uint64_t n = 0; n < 20; ++n) {
    const Example e = samples(n).example;
    answers.insert(e.targets[static_cast<size_t>(e.scored[0])]);
  }
  return answers;
}

/// Returns the number of validations without an error at the end of the curve.
int perfect_at_the_end(const std::vector<CurvePoint>& curve) {
  int count = 0;
  while (count < static_cast<int>(curve.size()) && curve[curve.size() - 1 - count].validation_token == 1) ++count;
  return count;
}

}  // namespace

TEST_CASE("training, validation and tests draw samples of their own purpose") {
  const Trainee trainee("test_recording", {"training.validate_splits=true"});
  const auto only = [](Purpose purpose) { return std::set<int>{static_cast<int>(purpose)}; };
  CHECK(answers(trainee.streams->training) == only(Purpose::train));
  CHECK(answers(trainee.streams->validation) == only(Purpose::validation));
  REQUIRE(trainee.streams->validated_splits.size() == 1);
  CHECK(answers(trainee.streams->validated_splits[0].second) == only(Purpose::validation));
  CHECK(answers(trainee.setup->stream({Purpose::test, kInDistribution, 3})) == only(Purpose::test));
  CHECK(answers(trainee.setup->training_streams(Purpose::further_training, 3).training) ==
        only(Purpose::further_training));
  CHECK(trainee.streams->validation.text == "validation");
  CHECK(trainee.streams->validated_splits[0].second.text == "validation:ood_length");
}

TEST_CASE("a stream draws every length of its task, the greatest too") {
  const Trainee trainee("test_recording");
  std::set<int> lengths;
  for (std::uint64_t n = 0; n < 60; ++n) lengths.insert(trainee.streams->training(n).length);
  CHECK(lengths == std::set<int>{2, 3, 4});
}

TEST_CASE("validation measures the validation stream, not the training samples") {
  const Trainee trainee("reverse_string", {"training.validation_sequences=32"});
  TrainingState state = trainee.start();
  while (state.curve.empty()) trainee.step(state);
  const auto measured = [&](const SampleStream& samples) {
    const SplitResult result = evaluate(*trainee.model, state.parameters, samples, 32);
    return std::pair(accuracy(result.token), accuracy(result.sequence));
  };
  const CurvePoint& point = state.curve.back();
  CHECK(std::pair(point.validation_token, point.validation_sequence) == measured(trainee.streams->validation));
  REQUIRE(measured(trainee.streams->validation) != measured(trainee.streams->training));
  CHECK(point.validation_token > point.validation_sequence);
}

TEST_CASE("each update has the learning rate that the schedule states for its step") {
  const Decay decay = GENERATE(Decay::linear, Decay::cosine);
  const Trainee trainee(
      "parity_check",
      {decay == Decay::linear ? "training.decay=linear" : "training.decay=cosine", "training.warm_up=0"});
  TrainingState state = trainee.start();
  for (int step = 0; step < 12; ++step) {
    CAPTURE(step);
    const double rate = 0.01 * schedule(decay, step, 12, 0);
    CHECK(updates_with(trainee, state, rate));
    CHECK_FALSE(updates_with(trainee, state, 0.9 * rate));
    trainee.step(state);
  }
}

TEST_CASE("the warm-up is a fraction of the steps, rounded up") {
  const Trainee trainee("parity_check", {"training.warm_up=0.3"});  // of 12 steps: 4
  TrainingState state = trainee.start();
  for (int step = 0; step < 4; ++step) {
    CAPTURE(step);
    CHECK(updates_with(trainee, state, 0.01 * ((step + 1.0) / 4)));
    trainee.step(state);
  }
  CHECK(updates_with(trainee, state, 0.01));
  state.step = 12;
  state.end = 24;  // a doubling, which repeats the schedule
  CHECK(updates_with(trainee, state, 0.01 / 4));
}

TEST_CASE("every step draws new dropout masks") {
  // The samples and the parameters stay the same, so that a loss changes by its masks only.
  const Trainee trainee("reverse_string", {"training.samples=4", "training.learning_rate=0", "model.dropout=0.3"});
  CHECK(losses_of(trainee, 5).size() == 5);
}

TEST_CASE("every step reads the samples that follow those of the step before") {
  const Trainee trainee("reverse_string", {"training.learning_rate=0"});
  CHECK(losses_of(trainee, 5).size() == 5);
  const Trainee repeated("reverse_string", {"training.learning_rate=0", "training.samples=8"});
  CHECK(losses_of(repeated, 6).size() == 2);  // eight samples are two batches
}

TEST_CASE("lengths=same gives the sequences of a batch one length, and batches have different lengths") {
  const Trainee trainee("test_recording:length=1..8", {"training.lengths=same"});
  TrainingState state = trainee.start();
  std::set<int> of_batches;
  for (int step = 0; step < 6; ++step) {
    std::vector<int> lengths;
    Recording::lengths_of_training = &lengths;
    trainee.step(state);
    Recording::lengths_of_training = nullptr;
    REQUIRE(lengths.size() == 4);
    CHECK(std::set<int>(lengths.begin(), lengths.end()).size() == 1);
    of_batches.insert(lengths.front());
  }
  CHECK(of_batches.size() > 1);
}

TEST_CASE("training stops at the last of the requested validations without an error") {
  for (const int early_stop : {1, 2, 3}) {
    CAPTURE(early_stop);
    const Trainee trainee("even_pairs:length=1", {"training.early_stop=" + std::to_string(early_stop),
                                                  "training.steps=200", "training.validate_every=2"});
    TrainingState state = trainee.start();
    CHECK(train(*trainee.model, *trainee.streams, trainee.options(), state));
    CHECK(state.stopped_early);
    CHECK(state.step < 200);
    CHECK(perfect_at_the_end(state.curve) == early_stop);
  }
}

TEST_CASE("training doubles its steps while the model has not learned the task and still gains") {
  const auto steps_after = [](const std::string& multiple, double first, double last) {
    const Trainee trainee("parity_check:length=1..8", {"training.steps=4", "training.validate_every=4",
                                                       "training.extend_while_gaining=" + multiple});
    TrainingState state = trainee.start();
    CHECK(train(*trainee.model, *trainee.streams, trainee.options(), state, [&](const TrainingState& now) {
      // The curve has an accuracy of `first`, until the validation at step 4 is replaced by `last`.
      auto& curve = const_cast<TrainingState&>(now).curve;
      if (now.step == 1) curve = {{1, 0.7, first, first}};
      if (now.step == 4) curve.back().validation_sequence = last;
      return true;
    }));
    return std::pair(state.step, state.curve.size());
  };
  CHECK(steps_after("1", -1, 0.5) == std::pair(4, size_t{2}));
  CHECK(steps_after("2", -1, 0.5) == std::pair(8, size_t{3}));
  CHECK(steps_after("3", -1, -5) == std::pair(8, size_t{3}));
  CHECK(steps_after("4", -1, 2) == std::pair(8, size_t{3}));  // the second half has no gain
  CHECK(steps_after("4", -1, -5) == std::pair(16, size_t{5}));
  CHECK(steps_after("4", 2, 2) == std::pair(4, size_t{2}));
}

TEST_CASE("a model is unfinished below 0.95 if the last 40 % of its steps gained 0.05 or more") {
  const auto curve = [](double at_60, double at_100) {
    return std::vector<CurvePoint>{{20, 0.1, 0, 0}, {60, 0.1, at_60, at_60}, {100, 0.1, at_100, at_100}};
  };
  CHECK(is_unfinished(curve(0.5, 0.55)));
  CHECK_FALSE(is_unfinished(curve(0.5, 0.5499)));
  CHECK(is_unfinished(curve(0.5, 0.9499)));
  CHECK_FALSE(is_unfinished(curve(0.5, 0.95)));
  CHECK_FALSE(is_unfinished({{100, 0.1, 0.5, 0.5}}));
  CHECK(*late_gain({{50, 0.1, 0, 0.2}, {100, 0.1, 0, 0.7}}) == Approx(0.4));  // 0.3 at step 60
}

TEST_CASE("a validation with an error begins the count of early stopping anew") {
  const Trainee trainee("even_pairs:length=1",
                        {"training.early_stop=2", "training.steps=200", "training.validate_every=1"});
  TrainingState state = trainee.start();
  while (perfect_at_the_end(state.curve) < 1) trainee.step(state);
  CHECK_FALSE(state.stopped_early);
  CHECK(state.perfect_validations == 1);
  state.parameters.flat *= -1;  // forgets the answer
  trainee.step(state);
  REQUIRE(perfect_at_the_end(state.curve) == 0);
  CHECK(state.perfect_validations == 0);
}

TEST_CASE("a point of the learning curve has the mean loss since the point before") {
  const Trainee trainee("parity_check");
  TrainingState state = trainee.start();
  std::vector<double> losses;
  for (int step = 0; step < 12; ++step) {
    trainee.step(state);
    losses.push_back(state.loss);
  }
  REQUIRE(state.curve.size() == 3);
  for (size_t n = 0; n < 3; ++n) {
    double sum = 0;
    for (size_t step = 4 * n; step < 4 * n + 4; ++step) sum += losses[step];
    CHECK(*state.curve[n].loss == Approx(sum / 4));
    CHECK(state.curve[n].step == static_cast<int>(4 * n + 4));
  }
}

TEST_CASE("training ends with a validation, whatever validate_every is") {
  const Trainee trainee("parity_check", {"training.validate_every=7"});
  TrainingState state = trainee.start();
  CHECK(train(*trainee.model, *trainee.streams, trainee.options(), state));
  REQUIRE(state.curve.size() == 2);
  CHECK(state.curve[0].step == 7);
  CHECK(state.curve[1].step == 12);
}

TEST_CASE("an evaluation reads each of its samples once") {
  const Trainee trainee("reverse_string", {"model.dropout=0.5"});
  const TrainingState state = trainee.start();
  const SampleStream samples = trainee.setup->stream({Purpose::test, kInDistribution, 3});
  std::map<int, std::int64_t> sequences;  // by length
  for (std::uint64_t n = 0; n < 200; ++n) ++sequences[samples(n).length];
  const SplitResult result = evaluate(*trainee.model, state.parameters, samples, 200);
  CHECK(result.sequences == 200);
  for (const LengthResult& at : result.by_length) CHECK(at.sequence.total == sequences[at.length]);
  const Trainee without_dropout("reverse_string");
  CHECK(evaluate(*without_dropout.model, state.parameters, samples, 200) == result);
}

TEST_CASE("further training reads samples of its own") {
  RunConfig config = make_config({.profile = "smoke", .tasks = "test_recording", .encodings = "none"});
  config.extend = {.encodings = "rope", .steps = 30};
  config.training.learning_rates = {0.05};
  config.training.steps = 60;
  const std::vector<ExperimentResult> results = *run_experiment(make_suite(config).experiments.at(0));
  REQUIRE(results.size() == 3);
  // Training teaches the answer "train", and further training the answer "further_training", so that its loss is
  // high.
  CHECK(*results[0].final_loss < 0.5);
  CHECK(*results[2].learning_curve.front().loss > *results[0].final_loss + 1);
}

TEST_CASE("trivial predictors are tested on other samples than those that they saw") {
  // Hardly any two samples have the same bag of tokens, so that a bag says nothing about other samples.
  const TaskSetup setup = make_task_setup({}, "bucket_sort:length=40");
  const TaskBaseline baseline = measure_baselines(setup, 60);
  CHECK(baseline.splits.at(0).trivial.at("bag_of_tokens") < 0.8);
}

TEST_CASE("every option of the model and of the optimizer changes the losses of training") {
  const std::string options =
      GENERATE("model.layers=2", "model.width=24", "model.heads=1", "model.feed_forward=50",
               "model.attention=bidirectional", "model.norm=post", "model.activation=relu", "model.dropout=0.25",
               "model.tied_embeddings=true", "model.block=parallel", "model.norm_kind=rms_norm",
               "model.biases=false", "model.qk_norm=true", "model.logit_scale=log_length", "model.window=2",
               "model.segment=2", "model.chunk=2", "model.window=2 model.sinks=1", "model.temperature=2",
               "model.loops=2", "training.optimizer=sgd", "training.optimizer=sgd training.momentum=0.4",
               "training.beta1=0.1", "training.beta2=0.2", "training.epsilon=0.3", "training.clip=0.01",
               "training.weight_decay=0.5", "training.weight_decay=0.5 training.decayed_parameters=all");
  CAPTURE(options);
  std::istringstream words(options);
  std::vector<std::string> settings(std::istream_iterator<std::string>(words), {});
  const std::set<double> changed = losses_of(Trainee("reverse_string", settings), 4);
  settings.pop_back();
  CHECK(losses_of(Trainee("reverse_string", settings), 4) != changed);
}

TEST_CASE("answers are laid out in slots for bidirectional models, and teacher forced for causal ones") {
  ExperimentOptions options;
  CHECK(options.layout() == Layout::teacher_forced);
  options.model.causal = false;
  CHECK(options.layout() == Layout::slots);
  options.model.causal = true;
  options.evaluation.layout = AnswerLayout::slots;
  CHECK(options.layout() == Layout::slots);
}

TEST_CASE("validation on the splits changes nothing but the learning curve") {
  const RunConfig plain = small_config("flip_flop", "rope");
  RunConfig with_splits = plain;
  with_splits.training.validate_splits = true;
  CHECK(!to_json(plain)["training"].contains("validate_splits"));
  CHECK(to_json(with_splits)["training"]["validate_splits"] == true);
  const ExperimentResult without = run_alone(plain), with = run_alone(with_splits);
  REQUIRE(with.learning_curve.size() == 2);
  for (size_t n = 0; n < 2; ++n) {
    const std::vector<SplitAccuracy>& splits = with.learning_curve[n].splits;
    REQUIRE(splits.size() == 4);
    CHECK(splits[0].split == "ood_dense");
    CHECK(splits[3].split == "ood_sparse_length");
  }
  CHECK(without.learning_curve[1].splits.empty());
  ExperimentResult stripped = with;
  for (CurvePoint& point : stripped.learning_curve) point.splits.clear();
  CHECK(stripped == without);
  const ExperimentResult read = experiment_from_json(to_json(with), "test");
  CHECK(read == with);
}
