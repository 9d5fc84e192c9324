#include "harness/commands/run_observer.h"

#include <fmt/format.h>

#include <optional>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "harness/exchange/saved_model.h"
#include "harness/runs/checkpoint.h"
#include "harness/runs/loss_trace.h"

namespace posbench {

RunObserver::RunObserver(const RunFiles& files, RunDirectory& directory, Progress& progress, size_t jobs)
    : files_(files), directory_(directory), progress_(progress), jobs_(jobs) {
  checkpoint_seconds = files.checkpoint_every;
  for (const auto& [id, finished] : directory.finished()) finished_before_.insert(id);
}

double RunObserver::on_start(const Experiment& e, const Model& model, LearningRateSweep& sweep) {
  const double seconds = resume(e, model, sweep);
  if (const std::filesystem::path losses = losses_path(e); !losses.empty()) start_trace(losses, sweep);
  return seconds;
}

void RunObserver::on_step(const Experiment& e, const LearningRateSweep& sweep) {
  if (const std::filesystem::path losses = losses_path(e); !losses.empty()) add_to_trace(losses, sweep);
  const TrainingState& state = sweep.state;
  if (state.curve.empty() || state.curve.back().step != state.step) return;
  const bool has_rates = e.training().learning_rates.size() > 1;
  progress_.validated(e.id(), has_rates ? std::optional(state.learning_rate) : std::nullopt, state.curve.back());
}

void RunObserver::on_checkpoint(const Experiment& e, const Model& model, const LearningRateSweep& sweep,
                                double seconds) {
  directory_.check_in_place();
  write_checkpoint(checkpoint_path(directory_.path(), e.id()), e, model, sweep, seconds, losses_path(e));
}

void RunObserver::on_progress(double cost) { progress_.advance(cost); }

void RunObserver::on_trained(const Experiment& e, const Model& model, const Parameters& parameters) {
  if (!files_.models) return;
  directory_.check_in_place();
  save_model(model_path(directory_.path(), e.id()), e, model, parameters);
}

void RunObserver::on_finished(const std::vector<ExperimentResult>& results, double seconds_of_all) {
  const std::lock_guard lock(mutex_);
  for (const ExperimentResult& result : results) {
    // A process may have ended between an experiment and its extensions.
    if (directory_.finished().contains(result.id)) continue;
    const double seconds = result.extended ? 0 : seconds_of_all;
    directory_.append(result, seconds);
    if (result.extended) {
      for (const CurvePoint& point : result.learning_curve) progress_.validated(result.id, std::nullopt, point);
    }
    progress_.finished(result, seconds);
  }
}

void RunObserver::on_jobs_reduced(int jobs, Resource lacking) {
  progress_.warn(fmt::format(
      "{} for {} experiments at once; continuing with {}",
      lacking == Resource::memory ? "memory is too small" : "the system starts too few threads (ulimit -u)", jobs_,
      jobs));
}

double RunObserver::resume(const Experiment& e, const Model& model, LearningRateSweep& sweep) const {
  const std::filesystem::path checkpoint = checkpoint_path(directory_.path(), e.id());
  std::error_code ignored;
  if (!exists(checkpoint, ignored)) return 0;
  try {
    return read_checkpoint(checkpoint, e, model, sweep, losses_path(e));
  } catch (const std::runtime_error& error) {
    progress_.warn(fmt::format("{}; its experiment starts from the beginning", error.what()));
    return 0;
  }
}

std::filesystem::path RunObserver::losses_path(const Experiment& e) const {
  if (!files_.losses || finished_before_.contains(e.id())) return {};
  return trace_path(directory_.path(), e.id());
}

}  // namespace posbench
