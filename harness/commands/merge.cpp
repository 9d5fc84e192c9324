// `posbench merge`: the run directories of all shards of a suite into one.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "base/parallel_for.h"
#include "harness/runs/context.h"
#include "harness/commands/commands.h"
#include "harness/commands/outcome.h"
#include "harness/commands/output.h"
#include "harness/commands/waiting.h"
#include "harness/runs/run_directory.h"
#include "harness/runs/saved_model.h"

namespace posbench {
namespace {

namespace fs = std::filesystem;

struct MergeRequest {
  std::vector<std::filesystem::path> runs;
  std::filesystem::path directory;
  bool force = false;
  std::string color = "auto";
  std::vector<std::string> command;  // as it was typed
};

struct ShardRun {
  fs::path path;
  RunRecord record;
};

[[noreturn]] void refuse(const std::string& what) { throw std::invalid_argument(what); }

constexpr size_t kMaxNamed = 5;  // of a list in a message

/// "a, b, c and 17 more": the first names, of so many in all.
std::string some(const std::vector<std::string>& names, size_t count) {
  const size_t shown = std::min(names.size(), kMaxNamed);
  const std::string text =
      fmt::format("{}", fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
  return shown < count ? fmt::format("{} and {} more", text, count - shown) : text;
}

/// That all are of one suite, and were made by this version, since it is to measure the trivial predictors.
void check_alike(const std::vector<ShardRun>& runs, const Json& context) {
  const auto& [first_path, first] = runs.front();
  for (const auto& [path, record] : runs) {
    const Manifest& manifest = record.manifest;
    const std::string version = version_difference(manifest.context, context);
    if (!version.empty()) {
      refuse(fmt::format("{} was made by another posbench: {}; merge with the one that ran it", path.string(),
                         version));
    }
    const std::string config = difference(first.manifest.config, manifest.config);
    if (!config.empty()) {
      refuse(fmt::format("{} and {} are not of one suite: {}", first_path.string(), path.string(), config));
    }
    if (manifest.shard.of != first.manifest.shard.of || manifest.save_models != first.manifest.save_models) {
      refuse(fmt::format("{} is shard {}{}, and {} is shard {}{}; they are not of one run", first_path.string(),
                         first.manifest.shard.text(), first.manifest.save_models ? " with models" : "",
                         path.string(), manifest.shard.text(), manifest.save_models ? " with models" : ""));
    }
  }
}

/// That every shard is there once.
void check_complete(const std::vector<ShardRun>& runs) {
  const int of = runs.front().record.manifest.shard.of;
  std::map<int, const ShardRun*> by_index;
  for (const ShardRun& run : runs) {
    const auto [found, added] = by_index.try_emplace(run.record.manifest.shard.index, &run);
    if (added) continue;
    refuse(fmt::format("{} and {} are both shard {}", found->second->path.string(), run.path.string(),
                       run.record.manifest.shard.text()));
  }
  const size_t missing = static_cast<size_t>(of) - by_index.size();
  if (missing == 0) return;
  std::vector<std::string> first;  // of the missing ones: there may be billions
  for (int index = 1; first.size() < std::min(missing, kMaxNamed); ++index) {
    if (by_index.count(index) == 0) first.push_back(Shard{index, of}.text());
  }
  refuse(fmt::format("{} of {} shards missing: {}; run them with --shard, and name their directories, too", missing, of,
                     some(first, missing)));
}

/// That every shard has finished what it lists, and lists what its configuration has.
void check_finished(const std::vector<ShardRun>& runs, const std::vector<Experiment>& experiments) {
  for (const auto& [path, record] : runs) {
    const Shard shard = record.manifest.shard;
    std::vector<ExperimentId> expected;
    for (size_t n = 0; n < experiments.size(); ++n) {
      if (!shard.has(n)) continue;
      for (ExperimentId& id : experiments[n].ids()) expected.push_back(std::move(id));
    }
    const std::vector<ExperimentId>& listed = record.manifest.experiments;
    if (listed != expected) {
      refuse(fmt::format("{}: experiments are not those of shard {} of its config",
                         (path / "manifest.json").string(), shard.text()));
    }
    std::vector<std::string> missing;
    for (const ExperimentId& id : listed) {
      const auto found = record.finished.find(id);
      if (found == record.finished.end())
        missing.push_back(fmt::format("{} on {} with seed {}", id.encoding, id.task, id.seed));
      const fs::path model = model_path(path, id);
      const bool saved = record.manifest.save_models && found != record.finished.end() &&
                         found->second.result.status == Status::ok && !found->second.result.extended;
      if (saved && !fs::exists(model)) refuse(fmt::format("{} is missing", model.string()));
    }
    if (!missing.empty()) {
      refuse(fmt::format("{} has {} of {} experiments unfinished: {}; finish it with posbench run --resume",
                         path.string(), missing.size(), listed.size(), some(missing, missing.size())));
    }
  }
}

void copy_models(const std::vector<ShardRun>& runs, const fs::path& to) {
  make_folder(to / "models");
  for (const auto& [path, record] : runs) {
    for (const auto& [id, finished] : record.finished) {
      const fs::path from = model_path(path, id);  // an experiment that diverged or failed has none
      if (fs::exists(from)) write_file(model_path(to, id), read_file(from));
    }
  }
}

/// Writes what one run of the whole suite would have left: the same bytes but for context and timing. Returns the
/// exit code that it would have had. Throws std::invalid_argument with one line where the runs are not of one
/// suite and one version, where something is missing, and names it, or where something is there twice.
int merge(const MergeRequest& request) {
  if (!request.force && is_taken(request.directory))
    refuse(fmt::format("{} exists; add --force to replace it, or choose another -o", request.directory.string()));
  Json about = context(request.command);
  std::vector<ShardRun> runs;
  for (const fs::path& path : request.runs) {
    if (fs::exists(request.directory) && fs::exists(path) && fs::equivalent(path, request.directory))
      refuse(fmt::format("{} is a run to merge; choose another -o", path.string()));
    runs.push_back({path, read_run(path)});
  }
  check_alike(runs, about);
  check_complete(runs);
  const Manifest& first = runs.front().record.manifest;
  const std::string position = (runs.front().path / "manifest.json").string() + ": config";
  const Config config = config_from_json(first.config, position);
  const Suite suite = make_suite(config);
  Manifest manifest{.config = first.config, .context = about, .save_models = first.save_models};
  manifest.experiments = ids(suite.experiments);
  check_finished(runs, suite.experiments);
  std::map<ExperimentId, Finished> finished;
  for (const auto& [path, record] : runs) {
    finished.insert(record.finished.begin(), record.finished.end());
    about["shards"].push_back(record.manifest.context);
  }
  const std::vector<TaskBaseline> baselines = [&] {
    const Waiting waiting("measuring trivial predictors");
    return measure_baselines(suite, all_cores(), false);
  }();
  RunDirectory directory(request.directory, request.force ? Existing::replace : Existing::refuse,
                         std::move(manifest));
  if (first.save_models) copy_models(runs, directory.path());
  directory.adopt(std::move(finished));
  about["finished"] = timestamp();
  return print_outcome(directory.write_report(baselines, about), directory.path(), wants_color(request.color));
}

}  // namespace

void add_merge(CLI::App& app, Invocation& invocation) {
  const auto request = std::make_shared<MergeRequest>();
  CLI::App* command =
      app.add_subcommand("merge", "Join the runs of all shards of a suite into the run of the whole");
  command->add_option("runs", request->runs, "the run directories of 'posbench run --shard', in any order")
      ->required();
  command->add_option("-o,--output", request->directory, "run directory to write")->required();
  command->add_flag("--force", request->force, "replace an existing run directory");
  add_color(*command, request->color);
  command->footer(
      "Every experiment must be there once, of one configuration and by this version. The report is the same "
      "bytes\n"
      "as a single run's, but for its context and timing.\n"
      "Examples:\n"
      "  posbench run -o out/1 --shard 1/2 && posbench run -o out/2 --shard 2/2\n"
      "  posbench merge out/1 out/2 -o out/all");
  command->callback([request, &invocation] {
    request->command = invocation.words;
    invocation.code = merge(*request);
  });
}

}  // namespace posbench
