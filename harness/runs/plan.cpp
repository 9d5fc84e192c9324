#include "harness/runs/plan.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <numeric>
#include <string>
#include <utility>

#include "base/parallel_for.h"
#include "base/system.h"
#include "harness/training/baselines.h"
#include "harness/training/evaluate.h"

namespace posbench {
namespace {

/// Measures the seconds of one training step. Large batches are measured with fewer sequences.
double step_seconds(const Experiment& e, Purpose purpose, const Model& model, TrainingState& state) {
  constexpr int kMaxSequences = 32, kMaxSteps = 8;
  constexpr double kEnough = 0.1;
  TrainingOptions options = e.training();
  const int batch = std::min(options.batch, kMaxSequences);
  const double scale = static_cast<double>(options.batch) / batch;
  options.batch = batch;
  options.steps = options.validate_every = kMaxSteps + 2;  // more than are run
  options.early_stop = 0;
  int measured = -1;  // the first step warms up
  double start = 0, seconds = 0;
  train(model, e.task->training_streams(purpose, 0), options, state, [&](const TrainingState&) {
    if (++measured == 0) start = thread_cpu_seconds();
    seconds = thread_cpu_seconds() - start;
    return measured < 1 || (measured < kMaxSteps && seconds < kEnough);
  });
  return scale * seconds / std::max(1, measured);
}

/// Measures the seconds of one evaluated sequence of a split.
double sequence_seconds(const Experiment& e, const Model& model, const TrainingState& state, size_t split) {
  constexpr double kEnough = 0.02;
  const SampleStream samples{*e.task->tasks[split], "estimate", 0};
  for (int sequences = 4;; sequences *= 4) {
    const double start = thread_cpu_seconds();
    evaluate(model, state.parameters, samples, sequences);
    const double seconds = thread_cpu_seconds() - start;
    if (seconds > kEnough || sequences >= 64) return seconds / sequences;
  }
}

int validations(int steps, const TrainingOptions& training) {
  return (steps + training.validate_every - 1) / training.validate_every;
}

/// Estimates the seconds of training with an encoding at so many learning rates, each for so many steps, and of the tests.
double estimate(const Experiment& e, const Spec& encoding, Purpose purpose, int rates, int steps) {
  const TrainingOptions& training = e.task->options.training;
  const Model model = make_model(encoding, e.task->shape);
  TrainingState state(model, training, 0);
  double seconds = steps == 0 ? 0 : static_cast<double>(rates) * steps * step_seconds(e, purpose, model, state);
  const double validated =
      static_cast<double>(rates) * validations(steps, training) * training.validation_sequences;
  for (size_t split = 0; split < e.task->splits.size(); ++split) {
    const double sequences =
        e.task->options.evaluation.sequences + (split == 0 || training.validate_splits ? validated : 0);
    seconds += sequences * sequence_seconds(e, model, state, split);
  }
  return seconds;
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

using Measured = std::function<void(size_t done, size_t of)>;

/// Estimates the seconds of each experiment, with as many threads as a run has.
std::vector<double> measure(const std::vector<Experiment>& experiments, int jobs, const Measured& measured) {
  std::vector<double> seconds(experiments.size());
  std::atomic<size_t> done{0};
  parallel_for(experiments.size(), jobs, [&](size_t i) {
    seconds[i] = estimate(experiments[i]);
    measured(++done, experiments.size());
  });
  return seconds;
}

/// Estimates the seconds of each experiment, regardless of its seed. If there are many pairs of a task and an encoding,
/// each task is measured with one encoding and each encoding on one task, since time is nearly the product of the two.
/// Some measured pairs correct the sum of these products.
std::vector<double> estimates(const std::vector<Experiment>& experiments, int jobs, const Measured& measured) {
  constexpr size_t kMaxPairs = 64, kSamples = 32;
  std::map<std::pair<std::string, std::string>, Experiment> pairs;
  for (const Experiment& e : experiments) pairs.try_emplace({e.task->spec, e.encoding.text()}, e);

  std::vector<Experiment> chosen;
  std::map<std::string, size_t> of_task, of_encoding;  // indices in `chosen`
  const Experiment& first = experiments.front();
  const auto choose = [&](const Experiment& e) { return chosen.push_back(e), chosen.size() - 1; };
  if (pairs.size() > kMaxPairs) {
    for (const Experiment& e : experiments) {
      const std::string encoding = e.encoding.text();
      if (of_task.count(e.task->spec) == 0) of_task[e.task->spec] = choose(on_task(e.task, first));
      if (of_encoding.count(encoding) == 0) of_encoding[encoding] = choose(on_task(first.task, e));
    }
  }
  const size_t samples = chosen.size(), stride = pairs.size() > kMaxPairs ? pairs.size() / kSamples : 1;
  size_t n = 0;
  for (const auto& [names, e] : pairs) {
    if (n++ % stride == 0) choose(e);
  }

  const std::vector<double> seconds = measure(chosen, jobs, measured);
  std::map<std::pair<std::string, std::string>, double> known;
  double found = 0, predicted = 0;
  const auto product = [&](const Experiment& e) {
    return seconds[of_task.at(e.task->spec)] * seconds[of_encoding.at(e.encoding.text())] /
           seconds[of_encoding.at(first.encoding.text())];
  };
  for (size_t i = samples; i < chosen.size(); ++i) {
    known[{chosen[i].task->spec, chosen[i].encoding.text()}] = seconds[i];
    found += seconds[i];
    if (samples > 0) predicted += product(chosen[i]);
  }
  std::vector<double> estimates;
  for (const Experiment& e : experiments) {
    const auto of_pair = known.find({e.task->spec, e.encoding.text()});
    estimates.push_back(of_pair != known.end() ? of_pair->second : product(e) * found / predicted);
  }
  return estimates;
}

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

}  // namespace

Plan make_plan(const Suite& suite, int jobs, const Measured& measured) {
  Plan plan;
  if (suite.experiments.empty()) return plan;
  const double startup = process_cpu_seconds(), baselines = baseline_seconds(suite);
  plan.seconds = estimates(suite.experiments, jobs, measured);
  const double total = std::accumulate(plan.seconds.begin(), plan.seconds.end(), 0.0);
  const double longest = *std::max_element(plan.seconds.begin(), plan.seconds.end());
  const int threads = std::min(jobs, all_cores());
  plan.core_seconds = startup + total + baselines;
  plan.wall_seconds = startup + std::max(total / threads, longest) + baselines / threads;
  return plan;
}

}  // namespace posbench
