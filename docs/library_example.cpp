// One experiment without the program: a task, an encoding, a model, training that is watched, and its result.
#include <cmath>
#include <cstdio>
#include <optional>
#include <vector>

#include "harness/training/run_experiment.h"

using namespace posbench;

class Printer final : public ExperimentObserver {
 public:
  double on_start(const Experiment&, const Model& model, LearningRateSweep&) override {
    std::printf("%ld parameters\n", static_cast<long>(model.layout.count()));
    return 0;  // seconds that an earlier, interrupted run has spent
  }
  void on_step(const Experiment&, const LearningRateSweep& sweep) override {
    const TrainingState& state = sweep.state;
    if (!state.curve.empty() && state.curve.back().step == state.step) {
      std::printf("step %d: loss %.3f, %.3f of the validation tokens right\n", state.step,
                  state.curve.back().loss.value_or(NAN), state.curve.back().validation_token);
    }
  }
};

int main() {
  ExperimentOptions options;
  options.model.layers = 1;
  options.model.width = 32;
  options.training.steps = 300;
  options.set("training.learning_rate", "3e-3");  // by name, as --set does
  options.evaluation.sequences = 256;

  const TaskSetup task = make_task_setup(options, "last_x_retrieval");
  const Experiment experiment{.task = &task, .encoding = Spec::parse("cope:positions=4"), .seed = 0};

  Printer printer;  // a std::stop_token as third argument would stop the experiment; there is then no result
  const std::optional<std::vector<ExperimentResult>> results = run_experiment(experiment, printer);
  if (!results || results->front().status != Status::ok) return 1;
  for (const SplitResult& split : results->front().splits) {
    const Count right = split.sequence;
    std::printf("%-16s %ld of %ld sequences right\n", split.name.c_str(), static_cast<long>(right.correct),
                static_cast<long>(right.total));
  }
  return 0;
}
