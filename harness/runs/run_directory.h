// The files of a run:
//   manifest.json      configuration, context and list of experiments; written first
//   experiments.jsonl  one line for each finished experiment (run_record.h), on disk before the experiment is
//                      reported as finished; if a diverged or failed experiment was run again, its last line
//                      counts
//   report.json        made from those lines at the end
//   report.html        page of plots of the report
//   models/            trained parameters, with --save-models
//   losses/            loss of every step, with --trace-loss
//   checkpoints/       states of experiments in training, from which an interrupted run continues
//
// One process at a time uses a run directory: it locks experiments.jsonl, and writes lines to the locked file.
//
// --force keeps the old run until the manifest of the new one is on disk. It writes manifest.json.next, renames
// manifest.json to manifest.json.replaced and manifest.json.next to manifest.json. Then it deletes all files that
// the replaced manifest lists, and last that manifest. The next process that opens the directory after an
// interruption undoes the replacement if manifest.json is missing, and completes it otherwise.
//
// A merged run is written in one go. Its manifest is manifest.json.merging, and gets its name at the end. If an
// error or a signal ends the merge, nothing of the run is left; if the process is killed, the next one that opens
// the directory deletes what the manifest lists.
#pragma once
#include <sys/types.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/file.h"
#include "harness/runs/run_record.h"
#include "results/json/json.h"
#include "results/statistics/summary.h"
#include "results/types/report.h"

namespace posbench {

enum class Existing { refuse, resume, replace };

/// Returns true if the path has something that a new run must not overwrite: anything but an empty folder, which
/// may have lost+found, or the folder of a run or a merge that was killed before its manifest had its name. Throws
/// InputError if the path is a file, or a folder that neither --force nor --resume accepts.
bool is_taken(const std::filesystem::path&);
/// Throws InputError if a folder has no manifest of posbench, since --force would delete its files.
void check_replaceable(const std::filesystem::path&);

/// Returns true if the run in a directory has finished an experiment or saved a checkpoint.
bool has_begun(const std::filesystem::path& run);

/// Returns the first setting in which two configurations differ, as in "training.steps was 3 and is now 4"; "" if
/// they are equal.
std::string difference(const Json& before, const Json& now);

/// Returns the first of commit, compiler, flags, library versions and plug-ins in which two contexts differ, as in
/// "commit was A and is now B". If it returns "", the same configuration gives the same bytes.
std::string version_difference(const Json& before, const Json& now);

enum class Writer { run, merge };

class RunDirectory {
 public:
  /// Opens or creates it. A merge has no Existing::resume. Throws InputError if it exists and may not be used,
  /// belongs to another configuration, shard or version, is in use or is damaged, or if its path cannot be
  /// written; FileError if the disk is full or fails. In all these cases an existing run keeps all its files.
  RunDirectory(std::filesystem::path, Existing, Manifest, Writer = Writer::run);
  RunDirectory(const RunDirectory&) = delete;
  RunDirectory& operator=(const RunDirectory&) = delete;
  ~RunDirectory();  // deletes a merged run, if finish_merge() was not called

  const std::filesystem::path& path() const { return path_; }
  const std::map<ExperimentId, FinishedExperiment>& finished() const { return record_.finished; }
  /// Returns the reason why the last line was dropped; "" if it was not dropped.
  const std::string& dropped() const { return record_.dropped; }

  /// Throws FileError if the path no longer leads to the run that this object has locked: the folder was moved or
  /// removed, or another run was started at the same path. Throws it also if the manifest was deleted.
  void check_in_place() const;
  /// Creates checkpoints/, and models/ if the run saves models.
  void make_folders() const;

  /// Appends a finished experiment and flushes it to disk. Throws FileError if that fails, as do all functions
  /// below.
  void append(const ExperimentResult&, double seconds);
  /// Adds the finished experiments of other runs that this one lists and has not finished.
  void import_results(std::map<ExperimentId, FinishedExperiment>);
  /// Returns the number of unfinished experiments with a checkpoint.
  size_t count_checkpoints() const;
  /// Deletes the checkpoints of all experiments.
  void remove_checkpoints() const;

  /// Writes report.json from the finished experiments, and its page. Moves the results out of record() into the
  /// report, which it returns.
  SummarizedReport write_report(const std::vector<TaskBaseline>&, Json context);
  /// Returns the page of a report on this run.
  std::string page(const SummarizedReport&) const;
  /// Writes report.html.
  void write_page(const std::string& page) const;
  /// Completes a merged run.
  void finish_merge();
  const RunRecord& record() const { return record_; }

 private:
  void open(Existing);
  void create();
  void resume();
  void replace();
  void lock(int flags);
  void separate_lines();
  void finish_replacing();
  void remove_results(const Manifest&);
  void remove_unfinished_merge();
  void discard_merge() noexcept;
  void write_lines(const std::string&);

  std::filesystem::path path_;
  RunRecord record_;
  std::string settings_;         // hash of those of the run
  bool is_merging_ = false;      // until the run is complete
  bool is_new_ = false;          // the folder was created
  std::unique_ptr<File> lines_;  // experiments.jsonl, locked
  off_t size_ = 0;               // of its whole lines
};

}  // namespace posbench
