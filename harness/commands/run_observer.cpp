#include "harness/commands/run_observer.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>

#include "base/printable.h"
#include "harness/console/message.h"
#include "harness/exchange/saved_model.h"
#include "harness/runs/checkpoint.h"
#include "harness/runs/loss_trace.h"
#include "results/presentation/accuracy_text.h"
#include "results/statistics/statistics.h"

namespace posbench {

namespace {

std::string accuracies(double token, double sequence) {
  return fmt::format("{:.3f} of tokens, {:.3f} of sequences", token, sequence);
}

/// Returns the sequence accuracy in distribution and that of the worst split out of distribution.
std::string outcome(const ExperimentResult& result) {
  if (result.status != Status::ok) return to_string(result.status) + ": " + result.reason;
  if (result.tuning) return fmt::format("a tuning seed, best at learning rate {}", *result.learning_rate);
  std::string text;
  const std::string rate = result.learning_rate ? fmt::format(", learning rate {}", *result.learning_rate) : "";
  double worst = 2;
  for (const SplitResult& split : result.splits) {
    const double right = accuracy(split.sequence);
    if (split.kind == SplitKind::in_distribution) {
      text = accuracy_text(right, 3) + " in distribution";
    } else if (split.kind == SplitKind::out_of_distribution) {
      worst = std::min(worst, right);
    }
  }
  return (worst <= 1 ? fmt::format("{}, worst OOD split {}", text, accuracy_text(worst, 3)) : text) + rate;
}

}  // namespace

RunObserver::RunObserver(const ExecutionOptions& options, const PendingWork& pending, RunDirectory& directory)
    : options_(options), pending_(pending), directory_(directory), progress_("training", pending.work) {
  checkpoint_seconds = options.checkpoint_every;
  progress_.set_progress(0, pending.results);
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
  show_validation(e.id(), has_rates ? std::optional(state.learning_rate) : std::nullopt, state.curve.back());
}

void RunObserver::on_checkpoint(const Experiment& e, const Model& model, const LearningRateSweep& sweep,
                                double seconds) {
  directory_.check_in_place();
  write_checkpoint(checkpoint_path(directory_.path(), e.id()), e, model, sweep, seconds, losses_path(e));
}

void RunObserver::on_progress(double cost) { progress_.advance(cost); }

void RunObserver::on_trained(const Experiment& e, const Model& model, const Parameters& parameters) {
  if (!options_.save_models) return;
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
      for (const CurvePoint& point : result.learning_curve) show_validation(result.id, std::nullopt, point);
    }
    show_finished(result, seconds);
  }
}

void RunObserver::on_jobs_reduced(int jobs, Resource lacking) {
  progress_.write(fit_line(fmt::format(
      "{} for {} experiments at once; continuing with {}",
      lacking == Resource::memory ? "memory is too small" : "the system starts too few threads (ulimit -u)",
      pending_.jobs, jobs)));
}

double RunObserver::resume(const Experiment& e, const Model& model, LearningRateSweep& sweep) const {
  const std::filesystem::path checkpoint = checkpoint_path(directory_.path(), e.id());
  std::error_code ignored;
  if (!exists(checkpoint, ignored)) return 0;
  try {
    return read_checkpoint(checkpoint, e, model, sweep, losses_path(e));
  } catch (const std::runtime_error& error) {
    progress_.write(
        fit_line(to_one_line(fmt::format("{}; its experiment starts from the beginning", error.what()))));
    return 0;
  }
}

void RunObserver::show_validation(const ExperimentId& id, std::optional<double> rate, const CurvePoint& point) {
  if (!options_.verbose) return;
  std::string text =
      fmt::format("{} on {}, seed {}{}: step {}, loss {:.4f}, validation {}\n", id.encoding, id.task, id.seed,
                  rate ? fmt::format(", learning rate {}", *rate) : "", point.step, point.loss.value_or(NAN),
                  accuracies(point.validation_token, point.validation_sequence));
  for (const SplitAccuracy& split : point.splits)
    text += fmt::format("    {}: {}\n", split.split, accuracies(split.token, split.sequence));
  progress_.write(to_printable_lines(text));
}

void RunObserver::show_finished(const ExperimentResult& result, double seconds) {
  progress_.set_progress(++done_, pending_.results);
  if (is_quiet()) return;
  const std::string left = done_ < pending_.results ? "; " + progress_.time_left() : "";
  progress_.write(fit_line(fmt::format("[{}/{}] {} on {}, seed {}: {} ({} of core time{})", done_,
                                       pending_.results, result.id.encoding, result.id.task, result.id.seed,
                                       to_printable(outcome(result)), format_duration(seconds), left)));
}

std::filesystem::path RunObserver::losses_path(const Experiment& e) const {
  if (!options_.trace_loss || finished_before_.contains(e.id())) return {};
  return trace_path(directory_.path(), e.id());
}

}  // namespace posbench
