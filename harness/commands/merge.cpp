// `posbench merge`: one run directory from those of all shards of a suite.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/parallel_for.h"
#include "base/text.h"
#include "harness/commands/commands.h"
#include "harness/config/user_files.h"
#include "harness/console/message.h"
#include "harness/console/output.h"
#include "harness/console/progress.h"
#include "harness/runs/provenance.h"
#include "harness/runs/result_files.h"
#include "harness/runs/run_directory.h"
#include "harness/runs/run_record.h"

namespace posbench {
namespace {

namespace fs = std::filesystem;

struct MergeRequest {
  std::vector<std::filesystem::path> runs;
  std::filesystem::path directory;
  bool force = false;
  std::vector<std::string> command;  // the whole command line
};

struct ShardRun {
  fs::path path;
  RunRecord record;
};

[[noreturn]] void refuse(const std::string& what) { throw InputError(what); }

/// Throws InputError unless all runs are of one suite and of this version, which measures the trivial predictors.
void check_alike(const std::vector<ShardRun>& runs, const Json& context) {
  const auto& [first_path, first] = runs.front();
  for (const auto& [path, record] : runs) {
    const Manifest& manifest = record.manifest;
    const std::string version = version_difference(manifest.context, context);
    if (!version.empty()) {
      refuse(fmt::format("{}: made by another version of posbench: {}; merge with the version that ran it",
                         path.string(), version));
    }
    const std::string config = difference(first.manifest.config, manifest.config);
    if (!config.empty()) {
      refuse(fmt::format("{} and {} are of different suites: {}; merge the shards of one suite",
                         first_path.string(), path.string(), config));
    }
    if (manifest.shard.of != first.manifest.shard.of || manifest.save_models != first.manifest.save_models) {
      refuse(fmt::format("{} is shard {}{}, and {} is shard {}{}; merge the shards of one run",
                         first_path.string(), first.manifest.shard.text(),
                         first.manifest.save_models ? " with models" : "", path.string(), manifest.shard.text(),
                         manifest.save_models ? " with models" : ""));
    }
  }
}

/// Throws InputError unless every shard is given once.
void check_complete(const std::vector<ShardRun>& runs) {
  const int of = runs.front().record.manifest.shard.of;
  std::map<int, const ShardRun*> by_index;
  for (const ShardRun& run : runs) {
    const auto [found, added] = by_index.try_emplace(run.record.manifest.shard.index, &run);
    if (added) continue;
    refuse(fmt::format("{} and {} are both shard {}; name one of them", found->second->path.string(),
                       run.path.string(), run.record.manifest.shard.text()));
  }
  const size_t missing = static_cast<size_t>(of) - by_index.size();
  if (missing == 0) return;
  std::vector<std::string> first;  // of the missing ones: there may be billions
  for (int index = 1; first.size() < std::min(missing, kMaxNamed); ++index) {
    if (!by_index.contains(index)) first.push_back(Shard{index, of}.text());
  }
  refuse(fmt::format("{} of {} shards are missing: {}; run them with --shard and add their directories", missing,
                     of, some_names(first, kMaxNamed, missing)));
}

/// Throws InputError unless every shard has finished the experiments that it lists, which must be those of its
/// config.
void check_finished(const std::vector<ShardRun>& runs, const std::vector<Experiment>& experiments) {
  for (const auto& [path, record] : runs) {
    const Shard shard = record.manifest.shard;
    std::vector<ExperimentId> expected;
    for (size_t n = 0; n < experiments.size(); ++n) {
      if (!shard.has(experiments[n].unit)) continue;
      for (ExperimentId& id : experiments[n].ids()) expected.push_back(std::move(id));
    }
    const std::vector<ExperimentId>& listed = record.manifest.experiments;
    if (listed != expected) {
      refuse(fmt::format("{}: experiments are not those of shard {} of its config; run the shard again",
                         (path / kManifestFile).string(), shard.text()));
    }
    std::vector<std::string> missing;
    for (const ExperimentId& id : listed) {
      if (!record.finished.contains(id))
        missing.push_back(fmt::format("{} on {} with seed {}", id.encoding, id.task, id.seed));
    }
    if (!missing.empty()) {
      refuse(fmt::format("{}: {} of {} experiments are unfinished: {}; finish them with 'posbench run --resume'",
                         path.string(), missing.size(), listed.size(), some_names(missing)));
    }
  }
}

/// Checks the models and losses of all shards before anything is written.
void check_files(std::vector<ShardRun>& runs) {
  size_t missing = 0;
  for (ShardRun& run : runs) missing += check_result_files(run.path, run.record);
  if (missing > 0)
    write_note(fmt::format("note: the losses of {} are missing in the shards", counted(missing, "experiment")));
}

/// Writes the run directory that one run of the whole suite would have written: the same bytes except for context
/// and timing. Returns the exit code of that run. Throws InputError if the shards are not exactly those of one
/// suite.
int merge(const MergeRequest& request) {
  if (is_taken(request.directory)) {
    check_replaceable(request.directory);
    if (!request.force)
      refuse(fmt::format("{} exists; add --force to replace it, or use another -o", request.directory.string()));
  }
  Json about = provenance(request.command);
  std::vector<ShardRun> runs;
  for (const fs::path& path : request.runs) {
    if (fs::exists(request.directory) && fs::exists(path) && fs::equivalent(path, request.directory))
      refuse(fmt::format("{} is one of the runs to merge; use another -o", path.string()));
    if (!fs::exists(path))
      refuse(fmt::format("{}: there is no such directory; give a run directory", path.string()));
    if (fs::is_regular_file(path))
      refuse(fmt::format("{} is a file, expected the directory of a run", path.string()));
    runs.push_back({path, read_run(path)});
  }
  check_alike(runs, about);
  check_complete(runs);
  const Manifest& first = runs.front().record.manifest;
  const std::string position = (runs.front().path / kManifestFile).string() + ": config";
  const RunConfig config = config_from_json(first.config, position);
  const Suite suite = make_suite(config);
  Manifest manifest{.config = first.config, .context = about, .save_models = first.save_models};
  manifest.experiments = ids(suite.experiments);
  check_finished(runs, suite.experiments);
  read_user_files([&] { check_files(runs); });
  for (const ShardRun& run : runs) about["shards"].push_back(run.record.manifest.context);
  const std::vector<TaskBaseline> baselines = [&] {
    const Progress status("measuring trivial predictors");
    return measure_baselines(suite, count_cores());
  }();
  for (const auto& [path, record] : runs) check_lines(record, path, baselines);
  std::optional<SummarizedReport> report;
  const bool is_written = write_interruptibly([&] {
    RunDirectory directory(request.directory, request.force ? Existing::replace : Existing::refuse,
                           std::move(manifest), Writer::merge);
    for (const ShardRun& run : runs) copy_result_files(run.path, run.record, directory.path());
    std::map<ExperimentId, FinishedExperiment> finished;
    for (ShardRun& run : runs) finished.merge(run.record.finished);
    directory.import_results(std::move(finished));
    about["finished"] = timestamp();
    report = directory.write_report(baselines, about);
    directory.finish_merge();
  });
  if (is_written) return print_summary(*report, request.directory);
  if (request.force && !fs::exists(request.directory / kManifestFile))
    write_message(fmt::format("{} is empty now; give the command again\n", request.directory.string()));
  return 130;
}

}  // namespace

void add_merge(CommandLine& line) {
  const auto request = std::make_shared<MergeRequest>();
  Command& command = line.add(kRunning, "merge", "Join the runs of all shards of a suite into one run");
  command.folder("runs", request->runs, "run directories of 'posbench run --shard', in any order").required();
  command.folder("-o,--output", request->directory, "run directory to write").required().output();
  command.flag("--force", request->force, "replace an existing run directory");
  command.explain(
      {{"posbench run -o out/1 --shard 1/2", "on one machine"},
       {"posbench run -o out/2 --shard 2/2", "on another machine"},
       {"posbench merge out/1 out/2 -o out/all", "one report of both"}},
      {"All shards must be of one configuration and of this version of posbench, and have every experiment once. "
       "The report has the same bytes as that of a single run, except for its context and timing. "
       "docs/cluster.md has Slurm, GNU parallel and Kubernetes."});
  command.run([request, &line] {
    request->command = line.arguments;
    return merge(*request);
  });
}

}  // namespace posbench
