#include "harness/training/experiment.h"

#include <fmt/format.h>

#include <new>

#include "base/file_error.h"

namespace posbench {

std::optional<ExperimentResult> run_experiment(const Experiment& e, const ExperimentEvents& events) {
  ExperimentResult result{.id = e.id(), .swept = e.swept, .task_version = e.task->info->version};
  const ExperimentOptions& config = e.task->options;
  try {
    const Model model = make_model(e.encoding, e.task->shape);
    result.parameters = model.layout.count();
    LearningRateSweep sweep(model, config.training, e.seed);
    if (events.begun) events.begun(model, sweep);
    const bool done = train(model, e.task->trained(), config.training, e.seed, sweep,
                            [&](const LearningRateSweep& s) { return !events.after_step || events.after_step(model, s); });
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
                                 config.training.outputs == Outputs::answers};
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
