// What a person sees while a suite runs: on a terminal a line that is redrawn, elsewhere a line for each
// experiment.
#pragma once
#include <chrono>
#include <mutex>
#include <string>

#include "results/types/experiment_result.h"

namespace posbench {

enum class Verbosity { quiet, normal, verbose };

class Progress {
 public:
  /// `work` is the size of the whole suite in any unit; `experiments` their number.
  Progress(Verbosity, int experiments, double work);

  /// So much work was done since the last call. From any thread.
  void advance(double work);
  /// An experiment is finished. From any thread.
  void finished(const ExperimentResult&, double seconds);
  /// A warning, however quiet. From any thread.
  void warn(const std::string&);
  /// Clears the redrawn line.
  void close();

 private:
  void draw();
  std::string time_left() const;

  std::mutex mutex_;
  Verbosity verbosity_;
  bool terminal_;
  int experiments_, done_ = 0;
  double work_, work_done_ = 0;
  std::chrono::steady_clock::time_point start_, drawn_;
};

/// "41 s", "12 min", "3 h 20 min".
std::string duration(double seconds);

}  // namespace posbench
