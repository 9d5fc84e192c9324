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

}  // namespace

std::optional<ExperimentResult> run_experiment(const Experiment& e, const ExperimentEvents& events) {
  ExperimentResult result{.id = e.id(), .swept = e.swept, .task_version = e.task->info->version};
  const ExperimentOptions& config = e.task->options;
  const TrainingOptions training = e.training();
  try {
    const Model model = make_model(e.encoding, e.task->shape);
    result.parameters = model.layout.count();
    LearningRateSweep sweep(model, training, e.seed);
    if (events.begun) events.begun(model, sweep);
    const auto after_step = [&](const LearningRateSweep& s) { return !events.after_step || events.after_step(model, s); };
    const bool done = train(model, e.task->trained(), training, e.seed, sweep, after_step, validated_splits(e));
    if (!done) return std::nullopt;

    const TrainingState& best = *sweep.best;
    result.steps = best.step;
    result.stopped_early = best.stopped_early;
    result.learning_curve = best.curve;
    const bool swept = sweep.tried.size() > 1;
    if (swept) {
      result.learning_rate = best.learning_rate;
      result.learning_rates = sweep.tried;
    }
    if (best.diverged_step) {
      result.status = Status::diverged;
      result.diverged_step = best.diverged_step;
      result.reason =
          fmt::format("the loss or its gradient stopped being finite at step {}{}", *best.diverged_step,
                      swept ? ", and sooner or as soon at every other learning rate" : "");
      return result;
    }
    if (events.trained) events.trained(model, best.parameters);
    result.final_loss = best.curve.empty() ? std::nullopt : best.curve.back().loss;
    for (size_t i = 0; i < e.task->splits.size(); ++i) {
      const TaskInfo::Split& split = e.task->splits[i];
      const SampleStream samples{*e.task->tasks[i], "test:" + split.name, e.seed, std::nullopt,
                                 config.training.outputs == Outputs::answers, 0, config.evaluation.loops};
      SplitResult tested = evaluate(model, best.parameters, samples, config.evaluation.sequences, events.go_on);
      if (tested.sequences < config.evaluation.sequences) return std::nullopt;
      tested.name = split.name;
      tested.kind = kind(split);
      result.splits.push_back(std::move(tested));
    }
  } catch (const FileError&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    result.status = Status::failed;
    result.reason = error.what();
    result.splits.clear();
  }
  return result;
}

}  // namespace posbench
