#include "harness/experiment.h"

#include <fmt/format.h>

#include "harness/files.h"

namespace posbench {

std::optional<ExperimentResult> run_experiment(const Experiment& e, const ExperimentEvents& events) {
  ExperimentResult result{.id = e.id(), .task_version = e.task->info->version};
  const Config& config = e.task->config;
  try {
    const Model model = make_model(e.encoding, e.task->shape);
    result.parameters = model.layout.count();
    TrainingState state(model, config.training, e.seed);
    if (events.begun) events.begun(model, state);
    bool stopped = false;
    train(model, e.task->trained(), config.training, e.seed, state, [&](const TrainingState& s) {
      stopped = !events.after_step(model, s);
      return !stopped;
    });
    if (stopped && state.step < config.training.steps && !state.stopped_early) return std::nullopt;

    result.steps = state.step;
    result.stopped_early = state.stopped_early;
    result.learning_curve = state.curve;
    if (state.diverged_step) {
      result.status = Status::diverged;
      result.diverged_step = state.diverged_step;
      result.reason =
          fmt::format("the loss or its gradient stopped being finite at step {}", *state.diverged_step);
      return result;
    }
    if (events.trained) events.trained(model, state);
    result.final_loss = state.curve.empty() ? std::nullopt : state.curve.back().loss;
    for (size_t i = 0; i < e.task->splits.size(); ++i) {
      const TaskInfo::Split& split = e.task->splits[i];
      const SampleStream samples{*e.task->tasks[i], "test:" + split.name, e.seed};
      SplitResult tested = evaluate(model, state.parameters, samples, config.evaluation.sequences);
      tested.name = split.name;
      tested.kind = kind(split);
      result.splits.push_back(std::move(tested));
    }
  } catch (const FileError&) {
    throw;
  } catch (const std::exception& error) {
    result.status = Status::failed;
    result.reason = error.what();
    result.splits.clear();
  }
  return result;
}

}  // namespace posbench
