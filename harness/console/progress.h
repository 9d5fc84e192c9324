// Shows the progress of a suite: a line for each finished experiment, and below them, on a terminal, a table of
// the results so far and a line with the time that is left.
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
  /// Shows a table of the results so far below the lines of finished experiments, if the terminal has the space.
  /// May be called from any thread.
  void set_table(const std::string& text);
  /// Writes a warning, even with Verbosity::quiet. May be called from any thread.
  void warn(const std::string&);
  /// Removes the table and the line with the time that is left.
  void close();
  /// Returns whether set_table has an effect.
  bool shows_tables() const { return terminal_ && verbosity_ != Verbosity::quiet; }

 private:
  /// The methods below are called with the lock held.
  void draw_line();  // at the cursor, which is at its beginning or on the former line
  void draw();       // the table and the line
  void erase();      // both
  std::string time_left() const;

  std::mutex mutex_;
  Verbosity verbosity_;
  bool terminal_;
  int experiments_, done_ = 0;
  std::string table_;    // with an end of line after each line
  int table_lines_ = 0;  // that are drawn above the line of the cursor
  double work_, work_done_ = 0;
  std::chrono::steady_clock::time_point start_, drawn_;
};

/// Returns "41 s", "12 min" or "3 h 20 min".
std::string format_duration(double seconds);

}  // namespace posbench
