// The report of a run, finished or not.
#pragma once
#include <filesystem>
#include <map>
#include <string>

#include "results/types/report.h"

namespace posbench {

/// Reads a report, or a run directory: its report.json, or, of a run that was interrupted or is going on, what is
/// finished by now.
class RunReader {
 public:
  explicit RunReader(std::filesystem::path path) : path_(std::move(path)) {}

  /// Throws std::invalid_argument with one line where there is neither.
  Report read();
  /// Whether read() would find more than at the last time.
  bool changed() const;

 private:
  /// Of the size of experiments.jsonl and of report.json, which are written as the run goes on.
  std::pair<std::uintmax_t, std::uintmax_t> sizes() const;
  Report read_unfinished();

  std::filesystem::path path_;
  std::pair<std::uintmax_t, std::uintmax_t> read_{};
  std::map<std::string, TaskBaseline> baselines_;  // by task, measured once
};

}  // namespace posbench
