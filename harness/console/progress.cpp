#include "harness/console/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <mutex>
#include <optional>
#include <string>

#include "base/printable.h"
#include "harness/console/message.h"
#include "harness/console/terminal.h"
#include "results/presentation/accuracy_text.h"
#include "results/statistics/statistics.h"

namespace posbench {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

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

std::string format_duration(double seconds) {
  if (seconds < 99.5) return fmt::format("{:.0f} s", seconds);
  const int minutes = static_cast<int>(std::lround(seconds / 60));
  if (minutes < 100) return fmt::format("{} min", minutes);
  return fmt::format("{} h {} min", minutes / 60, minutes % 60);
}

Progress::Progress(Verbosity verbosity, int experiments, double work)
    : verbosity_(verbosity),
      draws_(verbosity != Verbosity::quiet && can_redraw()),
      experiments_(experiments),
      work_(work),
      start_(Clock::now()),
      drawn_(start_) {}

std::string Progress::time_left() const {
  const double elapsed = seconds_since(start_);
  if (elapsed < 2 || work_done_ <= 0) return "estimating the time left";
  return "about " + format_duration(elapsed * std::max(0.0, work_ - work_done_) / work_done_) + " left";
}

void Progress::erase() {
  if (draws_) write_message("\r\x1b[K");
}

void Progress::draw() {
  if (!draws_) return;
  constexpr int kMaxBar = 30, kMinBar = 5;
  const std::string text = fmt::format(" {}/{}, {}", done_, experiments_, time_left());
  const int columns = message_width() > 0 ? message_width() : 80;
  const int space = columns - static_cast<int>(text.size()) - 3;  // a wrapped line could not be redrawn
  const int width = std::clamp(space, 0, kMaxBar);
  const int filled = static_cast<int>(width * std::min(1.0, work_done_ / std::max(work_, 1e-9)));
  const std::string bar = width < kMinBar ? "" : fmt::format("[{:#<{}}{:.<{}}]", "", filled, "", width - filled);
  write_message("\r\x1b[K" + (bar + text).substr(0, static_cast<size_t>(std::max(columns - 1, 1))));
  std::fflush(stderr);
  drawn_ = Clock::now();
}

void Progress::advance(double work) {
  const std::lock_guard lock(mutex_);
  work_done_ += work;
  if (seconds_since(drawn_) > 0.2) draw();
}

void Progress::finished(const ExperimentResult& result, double seconds) {
  const std::lock_guard lock(mutex_);
  ++done_;
  if (verbosity_ == Verbosity::quiet) return;
  erase();
  const std::string left = done_ < experiments_ ? "; " + time_left() : "";
  write_line(fmt::format("[{}/{}] {} on {}, seed {}: {} ({} of core time{})", done_, experiments_,
                         result.id.encoding, result.id.task, result.id.seed, to_printable(outcome(result)),
                         format_duration(seconds), draws_ ? "" : left));
  draw();
}

void Progress::validated(const ExperimentId& id, std::optional<double> rate, const CurvePoint& point) {
  if (verbosity_ != Verbosity::verbose) return;
  std::string text =
      fmt::format("{} on {}, seed {}{}: step {}, loss {:.4f}, validation {}\n", id.encoding, id.task, id.seed,
                  rate ? fmt::format(", learning rate {}", *rate) : "", point.step, point.loss.value_or(NAN),
                  accuracies(point.validation_token, point.validation_sequence));
  for (const SplitAccuracy& split : point.splits)
    text += fmt::format("    {}: {}\n", split.split, accuracies(split.token, split.sequence));
  const std::lock_guard lock(mutex_);
  erase();
  write_message(to_printable_lines(text));
  draw();
}

void Progress::warn(const std::string& text) {
  const std::lock_guard lock(mutex_);
  erase();
  write_line(to_one_line(text));
  draw();
}

void Progress::close() {
  const std::lock_guard lock(mutex_);
  erase();
}

}  // namespace posbench
