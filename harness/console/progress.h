// Shows the progress of a suite: a line for each finished experiment, and below them, on a terminal, a line with
// the time that is left.
#pragma once
#include <chrono>
#include <mutex>
#include <optional>
#include <string>

#include "results/types/experiment_result.h"

namespace posbench {

enum class Verbosity { quiet, normal, verbose };

class Progress {
 public:
  /// `work` is the size of the whole suite in any unit; `experiments` is the number of its experiments.
  Progress(Verbosity, int experiments, double work);

  /// Adds work that was done since the last call. May be called from any thread.
  void advance(double work);
  /// Reports a validation of an experiment in training, with Verbosity::verbose. `rate` is the learning rate, if
  /// there are several. May be called from any thread.
  void validated(const ExperimentId&, std::optional<double> rate, const CurvePoint&);
  /// Reports a finished experiment. May be called from any thread.
  void finished(const ExperimentResult&, double seconds);
  /// Writes a warning, even with Verbosity::quiet. May be called from any thread.
  void warn(const std::string&);
  /// Removes the line with the time that is left.
  void close();

 private:
  /// The methods below are called with the lock held.
  void draw();  // at the cursor, which is at its beginning or on the former line
  void erase();
  std::string time_left() const;

  std::mutex mutex_;
  Verbosity verbosity_;
  bool draws_;  // a line that is redrawn
  int experiments_, done_ = 0;
  double work_, work_done_ = 0;
  std::chrono::steady_clock::time_point start_, drawn_;
};

/// Returns "41 s", "12 min" or "3 h 20 min".
std::string format_duration(double seconds);

}  // namespace posbench
