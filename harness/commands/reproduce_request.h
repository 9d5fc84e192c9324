// Declares the options of `posbench reproduce`.
#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/console/command.h"
#include "harness/console/output.h"
#include "harness/runs/suite.h"
#include "results/reports/claim_json.h"

namespace posbench {

struct ReproduceRequest {
  std::vector<std::string> claims;  // names; empty: all
  ClaimSize size = ClaimSize::reduced;
  std::optional<std::filesystem::path> directory;
  std::vector<std::filesystem::path> with;  // further directories with runs
  int seeds = 0, jobs = 0;                  // seeds: the least number
  Shard shard;
  std::optional<ClaimVerdict> verdict;  // of the claims to list
  bool list = false, dry_run = false, judge_only = false, finished = false;
  Output output;  // without a file
  std::vector<std::string> command;
};

/// Adds the options to the command. They fill the request.
void add_options(Command& command, const std::shared_ptr<ReproduceRequest>&);

/// Throws InputError if options do not go together, or if a directory of --with is missing.
void check_request(const ReproduceRequest&);

/// Throws InputError if the path, which is that of the option, is not a directory.
void check_directory(const char* option, const std::filesystem::path&);

}  // namespace posbench
