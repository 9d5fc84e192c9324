// What a run leaves behind:
//   manifest.json      configuration, context and the list of experiments; written first
//   experiments.jsonl  one line for each finished experiment, on disk before the next is told
//   report.json        a fold over those lines
//   report.html        its page of plots
//   models/            trained parameters, where asked for
//   checkpoints/       training under way, to go on with after an interruption
#pragma once
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "harness/runs/files.h"
#include "harness/runs/suite.h"
#include "results/types/report.h"
#include "results/json/json.h"

namespace posbench {

enum class Existing { refuse, resume, replace };

/// What a run is.
struct Manifest {
  Json config = Json::object(), context = Json::object();
  std::vector<ExperimentId> experiments;  // of this shard, in the order of the suite
  Shard shard;
  bool save_models = false;
};

struct Finished {
  ExperimentResult result;
  double seconds = 0;
};

/// What is found in a run directory.
struct RunRecord {
  Manifest manifest;
  std::map<ExperimentId, Finished> finished;
  std::string dropped;  // what is wrong with a last line that does not count; empty where nothing is
  size_t intact = 0;    // bytes of experiments.jsonl before that line
};

/// Throws std::invalid_argument with one line that names the file and the place in it.
RunRecord read_run(const std::filesystem::path&);

/// The first place where two configurations differ, in words: "training/steps was 3 and is now 4". Empty where
/// they are the same.
std::string difference(const Json& before, const Json& now);

/// The first of compiler, flags, commit and library versions in which two contexts differ: "commit was A and is
/// now B". Empty where there is none, and the same configuration gives the same bytes.
std::string version_difference(const Json& before, const Json& now);

class RunDirectory {
 public:
  /// Opens or creates it. Throws std::invalid_argument where it exists and may not be used, belongs to another
  /// configuration, shard or version, is in use, is damaged, or cannot be written. Until then nothing has changed
  /// on disk.
  RunDirectory(std::filesystem::path, Existing, Manifest);

  const std::filesystem::path& path() const { return path_; }
  const std::map<ExperimentId, Finished>& finished() const { return record_.finished; }
  /// What was wrong with a last line that was found and dropped; empty where nothing was.
  const std::string& dropped() const { return record_.dropped; }

  /// Appends a finished experiment and flushes it to disk. Throws FileError where that fails, as does all below.
  void append(const ExperimentResult&, double seconds);
  /// Takes over finished experiments of other runs, all or none.
  void adopt(std::map<ExperimentId, Finished>);

  /// Writes report.json from all that is finished, in the order of the manifest, and its page. Returns the report.
  Report write_report(const std::vector<TaskBaseline>&, Json context) const;

 private:
  void create();
  void resume();
  void lock();

  std::filesystem::path path_;
  RunRecord record_;
  std::unique_ptr<File> lock_;
};

}  // namespace posbench
