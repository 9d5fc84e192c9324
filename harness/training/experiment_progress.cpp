#include "harness/training/experiment_progress.h"

#include <algorithm>
#include <chrono>
#include <stop_token>

#include "base/system.h"

namespace posbench {
namespace {

double count_all_steps(const Experiment& experiment) {
  double all = count_steps(experiment.training());
  for (const Extension& extension : experiment.extensions) all += extension.steps;
  return all;
}

}  // namespace

double count_steps(const TrainingOptions& training) {
  return static_cast<double>(training.steps) * static_cast<double>(training.learning_rates.size());
}

int count_validations(int steps, const TrainingOptions& training) {
  return (steps + training.validate_every - 1) / training.validate_every;
}

ExperimentProgress::ExperimentProgress(const Experiment& experiment, ExperimentObserver& observer,
                                       const ThreadPool& pool)
    : experiment_(experiment),
      observer_(observer),
      pool_(pool),
      start_cpu_seconds_(all_cpu_seconds()),
      cost_left_(experiment.cost.all()),
      cost_of_step_(experiment.cost.training / count_all_steps(experiment)) {}

double ExperimentProgress::cpu_seconds() const {
  return earlier_cpu_seconds_ + all_cpu_seconds() - start_cpu_seconds_;
}

double ExperimentProgress::all_cpu_seconds() const { return thread_cpu_seconds() + pool_.helper_cpu_seconds(); }

double ExperimentProgress::wall_seconds() const {
  return std::chrono::duration<double>(Clock::now() - start_).count();
}

void ExperimentProgress::advance(double cost) {
  observer_.on_progress(cost);
  cost_left_ -= cost;
}

void ExperimentProgress::start(const Model& model, LearningRateSweep& sweep) {
  earlier_cpu_seconds_ = observer_.on_start(experiment_, model, sweep);
  checkpoint_wall_seconds_ = wall_seconds();
  advance(sweep.state.step * cost_of_step_);
  for (const RateResult& rate : sweep.tried) advance(rate.steps * cost_of_step_);
}

bool ExperimentProgress::step(const Model& model, const LearningRateSweep& sweep, const std::stop_token& stop) {
  advance(cost_of_step_);
  observer_.on_step(experiment_, sweep);
  const bool stops = stop.stop_requested();
  const bool is_trained = sweep.state.step == sweep.state.end || sweep.state.stopped_early;
  // The tests, which have no checkpoints, may take long.
  const double between = is_trained ? std::min(observer_.checkpoint_seconds, 5.0) : observer_.checkpoint_seconds;
  if (stops || wall_seconds() - checkpoint_wall_seconds_ >= between) {
    observer_.on_checkpoint(experiment_, model, sweep, cpu_seconds());
    checkpoint_wall_seconds_ = wall_seconds();
  }
  return !stops;
}

void ExperimentProgress::finish(const std::vector<ExperimentResult>& results) {
  advance(cost_left_);
  observer_.on_finished(results, cpu_seconds());
}

void ExperimentProgress::reset() { advance(cost_left_ - experiment_.cost.all()); }

}  // namespace posbench
