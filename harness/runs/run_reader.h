// Reads the report of a run, finished or not.
#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>

#include "results/types/report.h"

namespace posbench {

/// Reads a report or a run directory. A directory without report.json gives the report of its finished
/// experiments.
class RunReader {
 public:
  explicit RunReader(std::filesystem::path path) : path_(std::move(path)) {}

  /// Throws InputError if there is neither.
  Report read();
  /// Returns whether read() would find more than at its last call.
  bool has_changed() const;

 private:
  /// Returns the sizes of experiments.jsonl and of report.json, which change while the run writes them.
  std::pair<std::uintmax_t, std::uintmax_t> sizes() const;
  Report read_unfinished();

  std::filesystem::path path_;
  std::pair<std::uintmax_t, std::uintmax_t> read_{};
  std::map<std::string, TaskBaseline> baselines_;  // by task, measured once
};

}  // namespace posbench
