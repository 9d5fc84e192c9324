// Shows a table of the results of a run that is in progress.
#pragma once
#include <chrono>
#include <vector>

#include "harness/console/progress.h"
#include "harness/runs/run_directory.h"

namespace posbench {

class LiveTable {
 public:
  /// The directory, the baselines and the progress must outlive the object.
  LiveTable(const RunDirectory&, const std::vector<TaskBaseline>&, Progress&, bool color);

  /// Shows the table after an experiment has finished, if the last update was long enough ago.
  void update();

 private:
  const RunDirectory& directory_;
  const std::vector<TaskBaseline>& baselines_;
  Progress& progress_;
  bool color_;
  std::chrono::steady_clock::time_point next_{};
};

}  // namespace posbench
