// Stores the results, checkpoints and models of a run while its experiments are trained.
#pragma once
#include <cstddef>
#include <filesystem>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include "harness/commands/execution_options.h"
#include "harness/console/progress.h"
#include "harness/runs/suite.h"

namespace posbench {

/// The part of a run that is left.
struct PendingWork {
  size_t results = 0, jobs = 0;  // results that are missing, and experiments at once
  double work = 0;               // of all experiments, as on_progress counts it
};

class RunObserver final : public ExperimentObserver {
 public:
  /// The options and the directory must outlive the object.
  RunObserver(const ExecutionOptions&, const PendingWork&, RunDirectory&);

  double on_start(const Experiment&, const Model&, LearningRateSweep&) override;
  void on_step(const Experiment&, const LearningRateSweep&) override;
  void on_checkpoint(const Experiment&, const Model&, const LearningRateSweep&, double seconds) override;
  void on_progress(double cost) override;
  void on_trained(const Experiment&, const Model&, const Parameters&) override;
  void on_finished(const std::vector<ExperimentResult>&, double seconds_of_all) override;
  void on_jobs_reduced(int jobs, Resource lacking) override;

 private:
  /// Restores the last checkpoint of the sweep, if any. Returns the seconds that were spent before it.
  double resume(const Experiment&, const Model&, LearningRateSweep&) const;

  /// Returns the file of the losses; empty without --trace-loss. A finished experiment is trained again if results
  /// of its extensions are missing, and its file is complete.
  std::filesystem::path losses_path(const Experiment&) const;

  void show_validation(const ExperimentId&, std::optional<double> rate, const CurvePoint&);
  void show_finished(const ExperimentResult&, double seconds);

  const ExecutionOptions& options_;
  const PendingWork pending_;
  RunDirectory& directory_;
  mutable Progress progress_;
  size_t done_ = 0;
  std::set<ExperimentId> finished_before_;  // when the run was opened
  std::mutex mutex_;
};

}  // namespace posbench
