// Reads and writes the record of a run: its manifest, and a line for each finished experiment.
//
// A line is the JSON of the result with more members: `seconds`; with --trace-loss `losses_crc32`, the checksum of
// the file in losses/; with --reuse `trained_by`, the commit of the run that gave the experiment; `origin_sha256`,
// the hash of `settings_sha256` of the manifest, task, encoding and seed, each but the last with a line feed
// behind it; and last `crc32` (results/json/checksum.h), which the manifest has too. Lines of older versions lack
// the last two.
#pragma once
#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "harness/runs/suite.h"
#include "results/json/json.h"
#include "results/types/report.h"

namespace posbench {

// Files of a run directory.
constexpr const char *kManifestFile = "manifest.json", *kLinesFile = "experiments.jsonl";
constexpr const char *kReportFile = "report.json", *kPageFile = "report.html";
constexpr const char* kReplacedManifestFile =
    "manifest.json.replaced";                                         // of the old run while --force replaces it
constexpr const char* kMergedManifestFile = "manifest.json.merging";  // of a merged run that is not complete

/// The description of a run.
struct Manifest {
  Json config = Json::object(), context = Json::object();
  std::vector<ExperimentId> experiments;  // of this shard, in the order of the suite
  std::vector<ExperimentId> tuning;       // tuning seeds, which the report does not have
  Shard shard;
  bool save_models = false;
};

/// Throws InputError.
Manifest read_run_manifest(const std::filesystem::path& file);
std::string to_text(const Manifest&);
/// Returns the hash of what all results of a run depend on: its configuration and build_of().
std::string hash_of_settings(const Manifest&);
/// Returns commit, compiler, flags, library versions and plug-ins of a context.
Json build_of(const Json& context);

struct FinishedExperiment {
  ExperimentResult result;
  double seconds = 0;
  std::string losses_checksum = "";  // empty without a file in losses/
  std::string trained_by = "";       // commit; empty if this run trained it
  int line = 0;                      // of experiments.jsonl; 0 if it was not read from there
};

/// Returns a line of experiments.jsonl. `settings` is hash_of_settings() of the run.
std::string to_line(const FinishedExperiment&, const std::string& settings);

/// The contents of a run directory.
struct RunRecord {
  Manifest manifest;
  std::map<ExperimentId, FinishedExperiment> finished;
  std::string dropped;  // reason why the last line is ignored; empty if it is not ignored
  size_t intact = 0;    // bytes of experiments.jsonl before that line
};

/// Throws InputError with one line that names the file and the position in it.
RunRecord read_run(const std::filesystem::path&);

/// Checks the experiments that were read from the lines of a run directory against their tasks. Throws InputError
/// with file and line.
void check_lines(const RunRecord&, const std::filesystem::path& run, const std::vector<TaskBaseline>&);

/// Returns how many of the experiments of the manifest are finished.
size_t count_finished(const RunRecord&);
/// Returns "10 of 18 experiments", if ten are finished.
std::string progress_text(const RunRecord&);

/// Returns the report of the finished experiments, in the order of the manifest, with `so_far`. Moves the results
/// out of the record.
Report take_report(RunRecord&, std::vector<TaskBaseline>, Json context);

}  // namespace posbench
