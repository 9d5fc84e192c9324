#include "harness/training/run_experiment.h"

#include <fmt/format.h>

#include <new>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "harness/training/evaluate.h"
#include "harness/training/evaluate_grids.h"
#include "harness/training/experiment_progress.h"

namespace posbench {
namespace {

/// Calls f. An InputError makes the result `failed`.
template <class F>
void call_or_fail(ExperimentResult& result, F f) {
  try {
    f();
  } catch (const InputError& error) {
    result.status = Status::failed;
    result.reason = error.what();
    result.splits.clear();
    result.grids.clear();
  }
}

/// Tests on every split and every grid. Returns false if a stop was requested.
bool test_all(const TestedModel& tested, const std::stop_token& stop, ThreadPool& pool, ExperimentResult& result) {
  const int sequences = tested.task.options.evaluation.sequences;
  for (const TaskInfo::Split& split : tested.task.splits) {
    const SampleStream samples = tested.task.stream({Purpose::test, split.name, tested.seed});
    SplitResult of_split = evaluate(tested.model, tested.parameters, samples, sequences, stop, pool);
    if (of_split.sequences < sequences) return false;
    of_split.name = split.name;
    of_split.kind = kind(split);
    result.splits.push_back(std::move(of_split));
  }
  std::optional<std::vector<GridResult>> grids = evaluate_grids(tested, stop, pool);
  if (grids) result.grids = std::move(*grids);
  return grids.has_value();
}

/// Adds the result of training. Returns false if training diverged.
bool record_training(const TrainingState& best, const char* where, ExperimentResult& result) {
  result.steps = best.step;
  result.stopped_early = best.stopped_early;
  result.learning_curve = best.curve;
  if (best.diverged_step) {
    result.status = Status::diverged;
    result.diverged_step = best.diverged_step;
    result.reason =
        fmt::format("the loss or its gradient stopped being finite at step {}{}", *best.diverged_step, where);
    return false;
  }
  result.final_loss = best.curve.empty() ? std::nullopt : best.curve.back().loss;
  return true;
}

/// Adds the result of a sweep. Returns false if every learning rate diverged.
bool record_sweep(const Experiment& e, const LearningRateSweep& sweep, ExperimentResult& result) {
  if (e.tuned) {
    result.learning_rate = e.tuned->learning_rate;
    result.learning_rates = e.tuned->tried;
    return record_training(*sweep.best, "", result);
  }
  const bool swept = sweep.tried.size() > 1;
  if (swept) {
    result.learning_rate = sweep.best->learning_rate;
    result.learning_rates = sweep.tried;
  }
  return record_training(*sweep.best, swept ? ", and no later at every other learning rate" : "", result);
}

ExperimentResult empty_extension_result(const Experiment& e, const Extension& extension) {
  const std::string parent = e.encoding_text;
  ExperimentResult result{.id = {e.task->spec, extension.label(parent), e.seed},
                          .swept = e.swept,
                          .extended = Extended{.parent = parent, .encoding = extension.encoding.text()},
                          .task_version = e.task->info->version};
  if (extension.steps > 0) {
    result.extended->steps = extension.steps;
    result.extended->length = e.task->options.extend.length;
  }
  if (result.swept) result.swept->encoding = extension.label(result.swept->encoding);
  return result;
}

/// Returns the result of an extension whose model did not finish its training.
ExperimentResult not_extended(const Experiment& e, const Extension& extension, const ExperimentResult& parent) {
  ExperimentResult result = empty_extension_result(e, extension);
  result.status = parent.status;
  result.diverged_step = parent.diverged_step;
  result.reason = fmt::format("the model that it extends {}: {}", to_string(parent.status), parent.reason);
  return result;
}

/// Trains and tests a copy of a trained model with another encoding. Returns nothing if a stop was requested.
std::optional<ExperimentResult> extend(const Experiment& e, const Extension& extension, const Model& trained,
                                       const TrainingState& best, const std::stop_token& stop, ThreadPool& pool) {
  ExperimentResult result = empty_extension_result(e, extension);
  bool not_stopped = true;
  call_or_fail(result, [&] {
    const Model model = make_model(extension.encoding, e.task->model_config);
    result.parameters = model.layout.count();
    TrainingOptions options = e.task->options.training;
    options.learning_rates = {best.learning_rate};
    options.steps = extension.steps;
    options.extend_while_gaining = 1;
    TrainingState state(model, options, e.seed);
    state.parameters = shared_parameters(trained.layout, best.parameters, model.layout);
    model.transformer->constrain(state.parameters);
    result.final_loss = best.curve.empty() ? std::nullopt : best.curve.back().loss;
    if (extension.steps > 0) {
      const auto not_requested = [&](const TrainingState&) { return !stop.stop_requested(); };
      not_stopped = train(model, e.task->training_streams(Purpose::further_training, e.seed), options, state,
                          not_requested, pool);
      if (!not_stopped || !record_training(state, " of further training", result)) return;
    }
    not_stopped = test_all({*e.task, extension.encoding, e.seed, model, state.parameters}, stop, pool, result);
  });
  return not_stopped ? std::optional(result) : std::nullopt;
}

/// Returns the results of the experiment and of its extensions; nothing if a stop was requested.
std::optional<std::vector<ExperimentResult>> train_and_test(const Experiment& e, ExperimentObserver& observer,
                                                            ExperimentProgress& progress,
                                                            const std::stop_token& stop, ThreadPool& pool) {
  ExperimentResult result{.id = e.id(), .swept = e.swept, .task_version = e.task->info->version};
  result.tuning = e.tuning;
  std::vector<ExperimentResult> extended;
  bool not_stopped = true;
  if (e.tuned && e.tuned->learning_rate == 0) throw std::logic_error("its tuning seeds are not trained");
  call_or_fail(result, [&] {
    const Model model = make_model(e.encoding, e.task->model_config);
    result.parameters = model.layout.count();
    LearningRateSweep sweep(model, e.training(), e.seed);
    progress.start(model, sweep);
    const auto after_step = [&](const LearningRateSweep& s) { return progress.step(model, s, stop); };
    not_stopped = sweep_learning_rates(model, e.task->training_streams(Purpose::train, e.seed), e.training(),
                                       sweep, after_step, pool);
    if (!not_stopped || !record_sweep(e, sweep, result) || e.tuning) return;
    observer.on_trained(e, model, sweep.best->parameters);
    not_stopped = test_all({*e.task, e.encoding, e.seed, model, sweep.best->parameters}, stop, pool, result);
    for (const Extension& extension : e.extensions) {
      if (!not_stopped) return;
      std::optional<ExperimentResult> one = extend(e, extension, model, *sweep.best, stop, pool);
      not_stopped = one.has_value();
      if (one) extended.push_back(std::move(*one));
    }
  });
  if (!not_stopped) return std::nullopt;
  if (result.status != Status::ok) {
    extended.clear();
    for (const Extension& extension : e.extensions) extended.push_back(not_extended(e, extension, result));
  }
  extended.insert(extended.begin(), std::move(result));
  return extended;
}

}  // namespace

std::optional<std::vector<ExperimentResult>> run_experiment(const Experiment& e, ExperimentObserver& observer,
                                                            const std::stop_token& stop, ThreadPool& pool) {
  ExperimentProgress progress(e, observer, pool);
  try {
    std::optional<std::vector<ExperimentResult>> results = train_and_test(e, observer, progress, stop, pool);
    if (results) progress.finish(*results);
    return results;
  } catch (const std::bad_alloc&) {
    progress.reset();
    throw;
  }
}

std::optional<std::vector<ExperimentResult>> run_experiment(const Experiment& e) {
  ExperimentObserver none;
  return run_experiment(e, none);
}

}  // namespace posbench
