// The files of a run:
//   manifest.json      configuration, context and the list of experiments; written first
//   experiments.jsonl  one line for each finished experiment, on disk before the experiment is reported as finished; of
//                      an experiment that was run again since it had diverged or failed, the last line counts
//   report.json        made from those lines at the end
//   report.html        its page of plots
//   models/            trained parameters, with --save-models
//   losses/            the loss of every step, with --trace-loss
//   checkpoints/       the state of experiments that are being trained, to continue from after an interruption
//
// One process at a time uses a run directory: it locks experiments.jsonl, and writes lines to the locked file.
//
// --force keeps the old run until the manifest of the new one is on disk. It writes manifest.json.next, renames
// manifest.json to manifest.json.replaced and manifest.json.next to manifest.json; then it deletes what the replaced
// manifest lists, and that manifest last. The next process that opens the directory after an interruption undoes the
// replacement if manifest.json is missing, and completes it otherwise.
#pragma once
#include <sys/types.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "harness/runs/files.h"
#include "harness/runs/suite.h"
#include "results/json/json.h"
#include "results/types/report.h"

namespace posbench {

enum class Existing { refuse, resume, replace };

/// The description of a run.
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

/// The contents of a run directory.
struct RunRecord {
  Manifest manifest;
  std::map<ExperimentId, Finished> finished;
  std::string dropped;  // why the last line is ignored; empty if it is not
  size_t intact = 0;    // bytes of experiments.jsonl before that line
};

/// Throws std::invalid_argument with one line that names the file and the position in it.
RunRecord read_run(const std::filesystem::path&);

/// "10 of 18 experiments": how many are finished.
std::string so_far(const RunRecord&);

/// The report of all that is finished, in the order of the manifest; `so_far` is set.
Report fold(const RunRecord&, std::vector<TaskBaseline>, Json context);

/// Whether there is anything at the path but an empty folder, or one whose run was killed before its manifest was
/// written.
bool is_taken(const std::filesystem::path&);

/// The first setting in which two configurations differ, in words: "training.steps was 3 and is now 4". Empty where
/// they are the same.
std::string difference(const Json& before, const Json& now);

/// The first of compiler, flags, commit, library versions and plug-ins in which two contexts differ: "commit was A and is
/// now B". Empty where there is none, and the same configuration gives the same bytes.
std::string version_difference(const Json& before, const Json& now);

class RunDirectory {
 public:
  /// Opens or creates it. Throws std::invalid_argument where it exists and may not be used, belongs to another
  /// configuration, shard or version, is in use or is damaged, or if its path cannot be written; FileError if
  /// the disk is full or fails. A run that exists is then still there, whole.
  RunDirectory(std::filesystem::path, Existing, Manifest);

  const std::filesystem::path& path() const { return path_; }
  const std::map<ExperimentId, Finished>& finished() const { return record_.finished; }
  /// Why the last line was dropped; empty if it was not.
  const std::string& dropped() const { return record_.dropped; }

  /// Throws FileError if the path no longer leads to the run that this object has locked: the folder was moved or
  /// removed, or another run was started at the same path.
  void check_in_place() const { lines_->check_in_place(); }
  /// Creates checkpoints/, and models/ if the run saves models.
  void make_folders() const;

  /// Appends a finished experiment and flushes it to disk. Throws FileError where that fails, as does all below.
  void append(const ExperimentResult&, double seconds);
  /// Adds the finished experiments of other runs.
  void adopt(std::map<ExperimentId, Finished>);
  /// Takes the experiments that diverged or failed for unfinished, so that they are run again, and deletes report.json
  /// and its page. Their lines stay until the new ones are written.
  void forget_failed();
  /// Deletes the checkpoints of all experiments.
  void remove_checkpoints() const;

  /// Writes report.json from all that is finished, and its page. Returns the report.
  Report write_report(const std::vector<TaskBaseline>&, Json context) const;
  /// The page of a report on this run.
  std::string page(const Report&) const;
  /// Writes report.html.
  void write_page(const std::string& page) const;
  const RunRecord& record() const { return record_; }

 private:
  void open(Existing);
  void create();
  void resume();
  void replace();
  void lock(int flags);
  void finish_replacing();
  void remove_results(const Manifest&);
  void write_lines(const std::string&);

  std::filesystem::path path_;
  RunRecord record_;
  std::unique_ptr<File> lines_;  // experiments.jsonl, locked
  off_t size_ = 0;               // of its whole lines
};

}  // namespace posbench
