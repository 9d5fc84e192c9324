// What a run leaves behind:
//   manifest.json      configuration, context and the list of experiments; written first
//   experiments.jsonl  one line for each finished experiment, on disk before the next is told
//   report.json        a fold over those lines
//   report.html        its page of plots
#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "results/report.h"

namespace posbench {

enum class Existing { refuse, resume, replace };

class RunDirectory {
 public:
  /// Opens or creates it. Throws std::invalid_argument where it exists and may not be used, belongs to another
  /// configuration, or cannot be written. Until then nothing has changed on disk.
  RunDirectory(std::filesystem::path, Existing, const Json& config, const Json& context,
               const std::vector<ExperimentId>& experiments);

  const std::filesystem::path& path() const { return path_; }
  /// Finished experiments that were found, and what was wrong with a last line that was dropped; empty where
  /// nothing was.
  const std::map<ExperimentId, ExperimentResult>& finished() const { return finished_; }
  const std::string& dropped() const { return dropped_; }

  /// Appends a finished experiment and flushes it to disk. Throws std::runtime_error where that fails.
  void append(const ExperimentResult&, double seconds);

  /// Writes report.json from all that is finished, in the order of the manifest, by a temporary file and a rename.
  /// Returns the report.
  Report write_report(const std::vector<TaskBaseline>&, Json context) const;

 private:
  std::filesystem::path path_;
  Json config_;
  std::vector<ExperimentId> experiments_;
  std::map<ExperimentId, ExperimentResult> finished_;
  std::map<ExperimentId, double> seconds_;
  std::string dropped_;
};

/// Writes a whole file by a temporary one beside it and a rename, flushed to disk. Throws std::runtime_error.
void write_file(const std::filesystem::path&, const std::string& text);

}  // namespace posbench
