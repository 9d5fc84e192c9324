#include "harness/training/experiment.h"

#include <fmt/format.h>

#include <new>

#include "base/file_error.h"

namespace posbench {
namespace {

/// The splits out of distribution, on samples that no test has.
std::vector<ValidatedSplit> validated_splits(const Experiment& e) {
  std::vector<ValidatedSplit> splits;
  const TrainingOptions& training = e.task->options.training;
  for (size_t i = 0; training.validate_splits && i < e.task->splits.size(); ++i) {
    const TaskInfo::Split& split = e.task->splits[i];
    if (kind(split) != SplitKind::out_of_distribution) continue;
    splits.push_back({split.name, {*e.task->tasks[i], "validation:" + split.name, e.seed, std::nullopt,
                                   training.outputs == Outputs::answers}});
  }
  return splits;
}

/// Calls f. An exception makes the result `failed`, unless it comes from the machine.
template <class F>
void or_failed(ExperimentResult& result, F f) {
  try {
    f();
  } catch (const FileError&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    result.status = Status::failed;
    result.reason = error.what();
    result.splits.clear();
  }
}

/// Tests on every split. Returns false if `go_on` did.
bool test(const Experiment& e, const Model& model, const Parameters& parameters, const std::function<bool()>& go_on,
          ExperimentResult& result) {
  const ExperimentOptions& config = e.task->options;
  for (size_t i = 0; i < e.task->splits.size(); ++i) {
    const TaskInfo::Split& split = e.task->splits[i];
    const SampleStream samples{*e.task->tasks[i], "test:" + split.name, e.seed, std::nullopt,
                               config.training.outputs == Outputs::answers, 0, config.evaluation.loops};
    SplitResult tested = evaluate(model, parameters, samples, config.evaluation.sequences, go_on);
    if (tested.sequences < config.evaluation.sequences) return false;
    tested.name = split.name;
    tested.kind = kind(split);
    result.splits.push_back(std::move(tested));
  }
  return true;
}

/// The result of training. Returns whether it did not diverge.
bool record(const TrainingState& best, const char* where, ExperimentResult& result) {
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

ExperimentResult unfinished_extension(const Experiment& e, const Extension& extension) {
  const std::string parent = e.encoding.text();
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

/// The extension of an experiment whose model did not finish its training.
ExperimentResult not_extended(const Experiment& e, const Extension& extension, const ExperimentResult& parent) {
  ExperimentResult result = unfinished_extension(e, extension);
  result.status = parent.status;
  result.diverged_step = parent.diverged_step;
  result.reason = fmt::format("the model that it extends {}: {}", to_text(parent.status), parent.reason);
  return result;
}

/// Nothing if `go_on` returned false.
std::optional<ExperimentResult> extend(const Experiment& e, const Extension& extension, const Model& trained,
                                       const TrainingState& best, const std::function<bool()>& go_on) {
  ExperimentResult result = unfinished_extension(e, extension);
  bool done = true;
  or_failed(result, [&] {
    const Model model = make_model(extension.encoding, e.task->shape);
    result.parameters = model.layout.count();
    TrainingOptions options = e.task->options.training;
    options.learning_rates = {best.learning_rate};
    options.steps = extension.steps;
    TrainingState state(model, options, e.seed);
    state.parameters = shared_parameters(trained.layout, best.parameters, model.layout);
    model.transformer->constrain(state.parameters);
    result.final_loss = best.curve.empty() ? std::nullopt : best.curve.back().loss;
    if (extension.steps > 0) {
      done = train(
          model, e.task->trained_further(), options, e.seed, state,
          [&](const TrainingState&) { return !go_on || go_on(); }, validated_splits(e), "train:further");
      if (!done || !record(state, " of further training", result)) return;
    }
    done = test(e, model, state.parameters, go_on, result);
  });
  return done ? std::optional(result) : std::nullopt;
}

}  // namespace

std::vector<ExperimentId> Experiment::ids() const {
  std::vector<ExperimentId> ids{id()};
  for (const Extension& extension : extensions) ids.push_back({task->spec, extension.label(encoding.text()), seed});
  return ids;
}

std::optional<std::vector<ExperimentResult>> run_experiment(const Experiment& e, const ExperimentEvents& events) {
  std::vector<ExperimentResult> extended;
  ExperimentResult result{.id = e.id(), .swept = e.swept, .task_version = e.task->info->version};
  const TrainingOptions training = e.training();
  bool done = true;
  or_failed(result, [&] {
    const Model model = make_model(e.encoding, e.task->shape);
    result.parameters = model.layout.count();
    LearningRateSweep sweep(model, training, e.seed);
    if (events.begun) events.begun(model, sweep);
    const auto after_step = [&](const LearningRateSweep& s) { return !events.after_step || events.after_step(model, s); };
    done = train(model, e.task->trained(), training, e.seed, sweep, after_step, validated_splits(e));
    if (!done) return;
    const TrainingState& best = *sweep.best;
    const bool swept = sweep.tried.size() > 1;
    if (swept) {
      result.learning_rate = best.learning_rate;
      result.learning_rates = sweep.tried;
    }
    if (!record(best, swept ? ", and sooner or as soon at every other learning rate" : "", result)) return;
    if (events.trained) events.trained(model, best.parameters);
    done = test(e, model, best.parameters, events.go_on, result);
    for (const Extension& extension : e.extensions) {
      if (!done) return;
      std::optional<ExperimentResult> one = extend(e, extension, model, best, events.go_on);
      done = one.has_value();
      if (one) extended.push_back(std::move(*one));
    }
  });
  if (!done) return std::nullopt;
  if (result.status != Status::ok) {
    extended.clear();
    for (const Extension& extension : e.extensions) extended.push_back(not_extended(e, extension, result));
  }
  extended.insert(extended.begin(), std::move(result));
  return extended;
}

}  // namespace posbench
