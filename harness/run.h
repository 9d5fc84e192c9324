// `posbench run`: the main job.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "harness/config.h"
#include "harness/progress.h"
#include "harness/run_directory.h"
#include "results/table.h"

namespace posbench {

struct RunRequest {
  ConfigRequest config;
  int jobs = 0;  // 0: all cores
  std::optional<std::filesystem::path> directory;
  Existing existing = Existing::refuse;
  Shard shard;
  double checkpoint_every = 60;  // seconds of an experiment
  bool dry_run = false, show_config = false, save_models = false;
  Verbosity verbosity = Verbosity::normal;
  bool color = false;
  std::vector<std::string> command;  // as it was typed
};

/// Returns the exit code: 0, 1 where an experiment diverged or failed or a file could not be written, 130 where it
/// was interrupted. Throws std::invalid_argument for what the user can mend.
int run(const RunRequest&);

/// To standard output, as wide as its terminal.
void print(const Table&, bool color);

/// Prints the tables of a finished run and where its report is. Returns 0, or 1 where an experiment diverged or
/// failed.
int print_outcome(const Report&, const std::filesystem::path& directory, bool color);

}  // namespace posbench
