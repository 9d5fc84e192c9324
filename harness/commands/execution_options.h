// The options of a command that trains.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "harness/config/config.h"
#include "harness/runs/run_directory.h"

namespace posbench {

struct ExecutionOptions {
  int jobs = 0;     // 0: as many as there are cores for their threads
  int threads = 0;  // of each experiment; kIdleCores: one, and idle cores
  std::optional<std::filesystem::path> directory;
  Existing existing = Existing::refuse;
  std::vector<std::filesystem::path> reuse;  // runs or reports whose experiments are taken over
  bool refuse_useless = true;  // without shards: refuse a `reuse` entry from which no experiment is taken over
  Shard shard;
  double checkpoint_every = 60;  // seconds of an experiment
  bool dry_run = false, save_models = false, trace_loss = false;
  bool print_summary = true;         // print the tables of the finished run
  bool needs_resume_flag = true;     // the command continues an interrupted run only with --resume
  bool verbose = false;              // print each validation
  bool full = false;                 // list each experiment of a dry run
  std::vector<std::string> command;  // the whole command line
};

}  // namespace posbench
