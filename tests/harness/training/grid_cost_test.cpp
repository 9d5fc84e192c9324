// Measures the cost of whole grids relative to training, for some minutes. POSBENCH_GRID_TASKS and
// POSBENCH_GRID_ENCODINGS are lists in the form of -t and -e.
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>

#include "base/system.h"
#include "harness/runs/suite.h"
#include "harness/training/evaluate.h"
#include "harness/training/task_grid.h"
#include "harness/training/train.h"
#include "tests/catch.h"

using namespace posbench;

namespace {

/// The largest fraction of the CPU time of training that the grids of an experiment may take.
constexpr double kMostCost = 0.25;

std::optional<std::string> environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? std::optional<std::string>(value) : std::nullopt;
}

/// Returns the CPU seconds of training with validation, from its first steps.
double training_seconds(const Experiment& e, const Model& model, TrainingState& state) {
  constexpr int kSteps = 40;
  TrainingOptions options = e.training();
  const double steps = options.steps, validations = steps / options.validate_every;
  state.end = options.steps = options.validate_every = kSteps;
  options.early_stop = 0;
  const double start = thread_cpu_seconds();
  double trained = start;
  train(model, e.task->training_streams(Purpose::train, e.seed), options, state, [&](const TrainingState& s) {
    if (s.step < kSteps) trained = thread_cpu_seconds();
    return true;
  });
  return (trained - start) * steps / (kSteps - 1) + (thread_cpu_seconds() - trained) * validations;
}

/// Returns the CPU seconds of a grid that does not end early.
double grid_seconds(const Experiment& e, const Model& model, const Parameters& parameters) {
  const double start = thread_cpu_seconds();
  for (const TaskGrid& grid : e.task->grids) {
    for (const TaskGrid::Point& point : grid.points) {
      evaluate(model, parameters, e.task->grid_stream(grid, point, e.seed),
               grid_sequences(e.task->options.evaluation.grid, point.multiple));
    }
  }
  return thread_cpu_seconds() - start;
}

}  // namespace

TEST_CASE("whole grids take at most a quarter of the time of training", "[.grid_cost]") {
  RunConfig config = make_config({.profile = "quick",
                                  .tasks = environment("POSBENCH_GRID_TASKS"),
                                  .encodings = environment("POSBENCH_GRID_ENCODINGS")});
  config.evaluation.grid = 256;
  double all_training = 0, all_grids = 0;
  const Suite suite = make_suite(config);
  for (const Experiment& e : suite.experiments) {
    const Model model = make_model(e.encoding, e.task->model_config);
    TrainingState state(model, e.training(), e.seed);
    const double training = training_seconds(e, model, state), grids = grid_seconds(e, model, state.parameters);
    std::printf("%-28s %-20s training %6.2f s  grid %6.2f s  %.3f\n", e.task->spec.c_str(),
                e.encoding.text().c_str(), training, grids, grids / training);
    std::fflush(stdout);
    INFO(e.task->spec << " " << e.encoding.text() << ": training " << training << " s, grids " << grids << " s");
    CHECK(grids <= kMostCost * training);
    all_training += training, all_grids += grids;
  }
  std::printf("all: training %.1f s, grids %.1f s, %.3f\n", all_training, all_grids, all_grids / all_training);
}
