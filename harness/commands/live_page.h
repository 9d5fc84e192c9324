// The page of a run that goes on, kept current.
#pragma once
#include <chrono>
#include <string>

#include "harness/runs/run_directory.h"

namespace posbench {

/// A page that a browser loads again every few seconds.
std::string reloading(std::string page);

/// Writes the page of a run that this process makes, as its experiments finish; at most every few seconds.
class LivePage {
 public:
  /// The directory must outlive it. The page shows `context`.
  LivePage(const RunDirectory& directory, std::vector<TaskBaseline> baselines, Json context);

  /// An experiment has finished. Throws FileError.
  void update();
  /// The run has stopped: writes a page that is not loaded again.
  void stop() const;
  const std::vector<TaskBaseline>& baselines() const { return baselines_; }

 private:
  Report report() const;

  const RunDirectory& directory_;
  std::vector<TaskBaseline> baselines_;
  Json context_;
  std::chrono::steady_clock::time_point next_{};
};

}  // namespace posbench
