// One experiment without the program: a task, an encoding, a model, training that is watched, and its result.
#include <cmath>
#include <cstdio>

#include "harness/training/experiment.h"

using namespace posbench;

int main() {
  ExperimentOptions options;
  options.model.layers = 1;
  options.model.width = 32;
  options.training.steps = 300;
  options.set("training.learning_rate", "3e-3");  // by name, as --set does
  options.evaluation.sequences = 256;

  const TaskSetup task = make_task_setup(options, "last_x_retrieval");
  const Experiment experiment{.task = &task, .encoding = Spec::parse("cope:positions=4"), .seed = 0};

  ExperimentEvents events;
  events.begun = [](const Model& model, LearningRateSweep&) {
    std::printf("%ld parameters\n", static_cast<long>(model.layout.count()));
  };
  events.after_step = [](const Model&, const LearningRateSweep& sweep) {
    const TrainingState& state = sweep.state;
    if (!state.curve.empty() && state.curve.back().step == state.step) {
      std::printf("step %d: loss %.3f, %.3f of the validation tokens right\n", state.step,
                  state.curve.back().loss.value_or(NAN), state.curve.back().validation_token);
    }
    return true;  // false stops; there is then no result
  };

  const std::optional<std::vector<ExperimentResult>> results = run_experiment(experiment, events);
  if (!results || results->front().status != Status::ok) return 1;
  for (const SplitResult& split : results->front().splits) {
    const Count right = split.sequence;
    std::printf("%-16s %ld of %ld sequences right\n", split.name.c_str(), static_cast<long>(right.correct),
                static_cast<long>(right.total));
  }
  return 0;
}
