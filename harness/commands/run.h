// One run of a configuration into a run directory, as `posbench run` and `posbench reproduce` do it.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "harness/commands/progress.h"
#include "harness/runs/config.h"
#include "harness/runs/run_directory.h"

namespace posbench {

struct RunRequest {
  int jobs = 0;  // 0: all cores
  std::optional<std::filesystem::path> directory;
  Existing existing = Existing::refuse;
  Shard shard;
  double checkpoint_every = 60;  // seconds of an experiment
  bool dry_run = false, save_models = false, trace_loss = false;
  bool live = false;           // keep report.html current
  bool fail_fast = false;      // stop at the first experiment that diverges or fails
  bool rerun_failed = false;   // with Existing::resume: those that diverged or failed are not finished
  bool outcome = true;         // print the tables of the finished run
  bool resume_by_flag = true;  // the command needs --resume to go on after an interruption
  Verbosity verbosity = Verbosity::normal;
  std::string color = "auto";
  std::vector<std::string> command;  // as it was typed
};

/// Runs a configuration. Returns the exit code: 0; 1 where an experiment diverged or failed (if it prints the outcome or
/// fails fast), a file could not be written or memory ran out; 130 where it was interrupted. Throws std::invalid_argument for what the user can mend.
int run(const Config&, const RunRequest& request);

}  // namespace posbench
