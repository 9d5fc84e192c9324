#include "harness/runs/plan.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/parallel_for.h"
#include "base/system.h"
#include "harness/training/baselines.h"
#include "harness/training/evaluate.h"
#include "harness/training/experiment_progress.h"

namespace posbench {
namespace {

constexpr double kLongEvaluation = 0.02;  // seconds: a sequence that takes longer is measured once
using Measured = std::function<void(size_t done, size_t of)>;

/// Returns the stream with the median length of its first examples for every example.
SampleStream at_median_length(SampleStream samples) {
  constexpr int kSamples = 31;
  std::vector<int> lengths;
  for (int n = 0; n < kSamples; ++n) lengths.push_back(samples(n).length);
  std::nth_element(lengths.begin(), lengths.begin() + kSamples / 2, lengths.end());
  samples.length = lengths[kSamples / 2];
  return samples;
}

/// Trains until `max_steps` are measured or `kEnough` seconds are spent. Returns the mean seconds of a step.
double mean_step_seconds(const Model& model, const TrainingStreams& streams, TrainingOptions options, int batch,
                         int max_steps, TrainingState& state) {
  constexpr double kEnough = 0.1;
  options.batch = batch;
  options.steps = options.validate_every = state.step + max_steps + 2;  // more than are run
  options.early_stop = 0;
  int measured = -1;  // the first step warms up, unless only one is requested
  if (max_steps == 1) measured = 0;
  double start = thread_cpu_seconds(), seconds = 0;
  train(model, streams, options, state, [&](const TrainingState&) {
    if (++measured == 0) start = thread_cpu_seconds();
    seconds = thread_cpu_seconds() - start;
    return measured < 1 || (measured < max_steps && seconds < kEnough);
  });
  return seconds / std::max(1, measured);
}

/// Measures the seconds of one training step. A step of a large model is measured with fewer sequences, of the
/// median length.
double step_seconds(const Experiment& e, Purpose purpose, const Model& model, TrainingState& state) {
  constexpr int kMaxSequences = 32, kMaxSteps = 8;
  constexpr double kEnough = 0.25;
  const TrainingOptions options = e.training();
  const int most = std::min(options.batch, kMaxSequences);
  const TrainingStreams streams = e.task->training_streams(purpose, 0);
  const TrainingStreams median{at_median_length(streams.training), streams.validation, {}};
  const double one = mean_step_seconds(model, median, options, 1, 1, state);
  if (one > kEnough) return one * options.batch;
  const int batch = std::clamp(static_cast<int>(kEnough / one), 1, most);
  return mean_step_seconds(model, batch < most ? median : streams, options, batch, kMaxSteps, state) *
         options.batch / batch;
}

/// Measures the seconds of one evaluated sequence of a split: one of the median length if that takes long enough.
double sequence_seconds(const Model& model, const TrainingState& state, const SampleStream& samples,
                        const SampleStream& median) {
  for (int sequences = 1;; sequences *= 4) {
    const double start = thread_cpu_seconds();
    evaluate(model, state.parameters, sequences == 1 ? median : samples, sequences);
    const double seconds = thread_cpu_seconds() - start;
    if (seconds > kLongEvaluation || sequences >= 64) return seconds / sequences;
  }
}

/// Estimates the seconds of training with an encoding for `steps` steps at each of `rates` learning rates, and of
/// the tests. Splits with long sequences and grids are not measured: their time follows from their multiply-adds.
double estimate(const Experiment& e, const Spec& encoding, Purpose purpose, int rates, int steps) {
  const TrainingOptions& training = e.task->options.training;
  const EvaluationOptions& evaluation = e.task->options.evaluation;
  const Model model = make_model(encoding, e.task->model_config);
  TrainingState state(model, training, 0);
  double seconds = steps == 0 ? 0 : static_cast<double>(rates) * steps * step_seconds(e, purpose, model, state);
  const double validated =
      static_cast<double>(rates) * count_validations(steps, training) * training.validation_sequences;
  double seconds_of_product = 0;  // of a multiply-add
  double products_of_grids = 0;
  for (size_t split = 0; split < e.task->splits.size(); ++split) {
    SampleStream samples{*e.task->tasks[split], "estimate", 0};
    samples.loops = evaluation.loops;
    const SampleStream median = at_median_length(samples);
    const Example example = median(0).example;
    const auto length = static_cast<Index>(example.tokens.size()),
               targets = static_cast<Index>(example.scored.size());
    const double products = model.transformer->multiply_adds(length, targets, evaluation.loops);
    if (split == 0) {
      products_of_grids =
          grid_products(*e.task, *model.transformer, static_cast<double>(length), static_cast<double>(targets));
    }
    double of_sequence = products * seconds_of_product;
    if (of_sequence < kLongEvaluation) {
      of_sequence = sequence_seconds(model, state, samples, median);
      seconds_of_product = of_sequence / products;
    }
    seconds += evaluation.sequences * of_sequence;
    const bool is_validated =
        split == 0 || (training.validate_splits && kind(e.task->splits[split]) == SplitKind::out_of_distribution);
    // Validation has the loops of the model.
    if (is_validated)
      seconds += validated * of_sequence * model.transformer->multiply_adds(length, targets) / products;
  }
  return seconds + products_of_grids * seconds_of_product;
}

/// Estimates the seconds of the whole experiment.
double estimate(const Experiment& e) {
  const TrainingOptions training = e.training();
  const int rates = static_cast<int>(training.learning_rates.size());
  double seconds = estimate(e, e.encoding, Purpose::train, rates, training.steps);
  for (const Extension& extension : e.extensions)
    seconds += estimate(e, extension.encoding, Purpose::further_training, 1, extension.steps);
  return seconds;
}

/// Returns the experiment on another task. Matched steps keep their ratio to the steps of the task.
Experiment on_task(const TaskSetup* task, const Experiment& e) {
  Experiment other{.task = task, .encoding = e.encoding, .seed = e.seed, .extensions = e.extensions};
  if (e.steps) {
    const double share = static_cast<double>(*e.steps) / e.task->options.training.steps;
    other.steps = std::max(1, static_cast<int>(share * task->options.training.steps));
  }
  return other;
}

using Pair = std::pair<std::string, std::string>;  // a task and an encoding

Pair pair_of(const Experiment& e) { return {e.task->spec, e.encoding.text()}; }

/// The experiments whose time is measured, regardless of their seeds. The first ones are each task with the first
/// encoding, and the first task with each encoding. The others are pairs that the suite has.
class Calibration {
 public:
  Calibration(const std::vector<Experiment>& experiments, int jobs, const Measured& on_measured)
      : first_(experiments.front()) {
    constexpr size_t kMaxPairs = 64;
    for (const Experiment& e : experiments) pairs_.insert(pair_of(e));
    for (const Experiment& e : experiments) {
      add(on_task(e.task, first_));
      add(on_task(first_.task, e));
    }
    required_ = chosen_.size();
    std::set<Pair> seen;
    const size_t stride = (pairs_.size() + kMaxPairs - 1) / kMaxPairs;
    for (const Experiment& e : experiments) {
      if (seen.insert(pair_of(e)).second && seen.size() % stride == 0) add(e);
    }
    measure(jobs, on_measured);
    correct();
  }

  double seconds(const Experiment& e) const {
    const auto measured = seconds_.find(pair_of(e));
    return measured != seconds_.end() ? measured->second : product(e) * correction_;
  }
  size_t pairs() const { return pairs_.size(); }
  size_t measured_pairs() const {
    return static_cast<size_t>(
        std::count_if(pairs_.begin(), pairs_.end(), [&](const Pair& pair) { return seconds_.contains(pair); }));
  }
  double deviation() const { return deviation_; }

 private:
  void add(const Experiment& e) {
    if (added_.insert(pair_of(e)).second) chosen_.push_back(e);
  }

  /// Measures the first pairs, and of the others those that the time allows, at least some.
  void measure(int jobs, const Measured& on_measured) {
    constexpr double kEnough = 10;  // CPU seconds
    constexpr size_t kMinSamples = 3;
    const double start = process_cpu_seconds();
    std::vector<double> seconds(chosen_.size());
    std::atomic<size_t> done{0};
    parallel_for(chosen_.size(), jobs, [&](size_t i) {
      if (i < required_ + kMinSamples || process_cpu_seconds() - start < kEnough)
        seconds[i] = estimate(chosen_[i]);
      on_measured(++done, chosen_.size());
    });
    for (size_t i = 0; i < chosen_.size(); ++i) {
      if (seconds[i] > 0) seconds_[pair_of(chosen_[i])] = seconds[i];
    }
  }

  /// Time is nearly the product of a factor of the task and one of the encoding.
  double product(const Experiment& e) const {
    const auto [task, encoding] = pair_of(e);
    const auto [first_task, first_encoding] = pair_of(first_);
    return seconds_.at({task, first_encoding}) * seconds_.at({first_task, encoding}) /
           seconds_.at({first_task, first_encoding});
  }

  /// Compares the products with the pairs that were measured after the first ones. The deviation of a pair is that
  /// of an estimate which does not use its measurement.
  void correct() {
    struct Sample {
      double found, predicted;
    };
    std::vector<Sample> samples;
    Sample sum{0, 0};
    for (size_t i = required_; i < chosen_.size(); ++i) {
      const auto measured = seconds_.find(pair_of(chosen_[i]));
      if (measured == seconds_.end()) continue;
      samples.push_back({measured->second, product(chosen_[i])});
      sum.found += samples.back().found;
      sum.predicted += samples.back().predicted;
    }
    if (samples.size() < 2) return;
    correction_ = sum.found / sum.predicted;
    for (const Sample& sample : samples) {
      const double others = (sum.found - sample.found) / (sum.predicted - sample.predicted);
      const double ratio = sample.predicted * others / sample.found;
      deviation_ = std::max(deviation_, std::max(ratio, 1 / ratio) - 1);
    }
  }

  const Experiment& first_;
  std::set<Pair> pairs_, added_;
  std::vector<Experiment> chosen_;
  size_t required_ = 0;             // number of pairs that are always measured
  std::map<Pair, double> seconds_;  // of the measured pairs
  double correction_ = 1, deviation_ = 0;
};

/// Estimates the seconds of measuring the trivial predictors.
double baseline_seconds(const Suite& suite) {
  constexpr int kShare = 40;
  double seconds = 0;
  for (const auto& task : suite.tasks) {
    const double start = thread_cpu_seconds();
    measure_baselines(*task, kBaselineSamples / kShare);
    seconds += kShare * (thread_cpu_seconds() - start);
  }
  return seconds;
}

/// Returns the seconds that an experiment takes with several threads. `seconds`: with one thread.
double seconds_with(int threads, const Experiment& e, double seconds) {
  const TrainingOptions& training = e.task->options.training;
  const int groups = std::min(training.groups, training.batch);
  const int rounds = (groups + threads - 1) / threads;  // in which the threads compute the groups of a batch
  const double trained = e.estimated_training_cost / e.estimated_cost;
  return seconds * (trained * rounds / groups + (1 - trained) / threads);
}

}  // namespace

Plan make_plan(const Suite& suite, int jobs, int threads, const Measured& measured) {
  Plan plan;
  if (suite.experiments.empty()) return plan;
  const double startup = process_cpu_seconds(), baselines = baseline_seconds(suite);
  const Calibration calibration(suite.experiments, jobs, measured);
  plan.pairs = calibration.pairs();
  plan.measured_pairs = calibration.measured_pairs();
  plan.deviation = calibration.deviation();

  const int cores = count_hardware_threads();
  const int at_once = std::min({jobs, cores, static_cast<int>(suite.experiments.size())});
  const int most = threads == kIdleCores ? cores : std::min(threads, cores);  // for the last experiment
  plan.threads = std::min(most, cores / at_once);
  plan.jobs = plan.threads > 1 ? at_once : jobs;
  double total = 0, total_wall = 0, longest = 0;
  for (const Experiment& e : suite.experiments) {
    const double seconds = calibration.seconds(e);
    plan.seconds.push_back(seconds);
    total += seconds;
    total_wall += seconds_with(plan.threads, e, seconds);
    longest = std::max(longest, seconds_with(most, e, seconds));
  }
  plan.core_seconds = startup + total + baselines;
  plan.wall_seconds = startup + std::max(total_wall / at_once, longest) + baselines / std::min(jobs, cores);
  return plan;
}

}  // namespace posbench
