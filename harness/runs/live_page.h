// Writes the page of a run that is in progress.
#pragma once
#include <chrono>
#include <string>
#include <vector>

#include "harness/runs/run_directory.h"

namespace posbench {

/// Makes a browser load a page again every few seconds.
std::string add_reload(std::string page);

/// Writes the page of the run of this process whenever experiments finish, at most every few seconds.
class LivePage {
 public:
  /// The directory must outlive this object. The page shows `context`.
  LivePage(const RunDirectory& directory, std::vector<TaskBaseline> baselines, Json context);

  /// Writes the page after an experiment has finished. Throws FileError.
  void update();
  /// Writes the final page, which is not loaded again.
  void stop() const;

 private:
  SummarizedReport report() const;

  const RunDirectory& directory_;
  std::vector<TaskBaseline> baselines_;
  Json context_;
  std::chrono::steady_clock::time_point next_{};
};

}  // namespace posbench
