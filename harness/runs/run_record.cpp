#include "harness/runs/run_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/sha256.h"
#include "harness/config/user_files.h"
#include "harness/runs/loss_trace.h"
#include "results/json/checksum.h"
#include "results/json/json.h"
#include "results/reports/experiment_json.h"
#include "results/reports/report_json.h"

namespace posbench {
namespace {

namespace fs = std::filesystem;

constexpr const char *kSettings = "settings_sha256", *kOrigin = "origin_sha256";

Json to_json(const ExperimentId& id) { return {{"task", id.task}, {"encoding", id.encoding}, {"seed", id.seed}}; }

/// Returns the hash of what a result depends on.
std::string hash_of_origin(const std::string& settings, const ExperimentId& id) {
  return sha256(fmt::format("{}\n{}\n{}\n{}", settings, id.task, id.encoding, id.seed));
}

FinishedExperiment read_line(std::string_view text, const std::string& position, const std::string& settings) {
  constexpr const char* kAdvice = "delete it, and 'posbench run --resume' runs its experiment again";
  const Json json = parse_json(text, position);
  const Field line(json, position);
  check_checksum(text, position, fmt::format("the line was changed; {}", kAdvice));
  FinishedExperiment read{.result = read_experiment(line)};
  if (line.has(kOrigin)) {
    const Field field = line[kOrigin];
    const std::string expected = hash_of_origin(settings, read.result.id);
    if (field.text() != expected) {
      field.fail(fmt::format("expected \"{}\": the line is of a run with other settings or of another build; {}",
                             expected, kAdvice));
    }
  }
  if (line.has("seconds")) read.seconds = line["seconds"].number(0, std::numeric_limits<double>::max());
  if (line.has(kTrainedBy)) read.trained_by = line[kTrainedBy].text();
  if (line.has(kLossesChecksum)) read.losses_checksum = line[kLossesChecksum].text();
  return read;
}

/// Reads the lines of experiments.jsonl into a record that has its manifest.
void read_lines(const fs::path& path, RunRecord& record) {
  std::set<ExperimentId> known(record.manifest.experiments.begin(), record.manifest.experiments.end());
  known.insert(record.manifest.tuning.begin(), record.manifest.tuning.end());
  const std::string settings = hash_of_settings(record.manifest);
  int number = 0;
  for_each_line(path, [&](std::string_view line, bool is_whole) {
    const std::string position = fmt::format("{}:{}", path.string(), ++number);
    if (!is_whole) {
      record.dropped = fmt::format("{}: the last line is truncated; its experiment is run again", position);
      return;
    }
    const auto refuse = [&](const char* what) {
      const Json json = parse_json(line, position);
      const Field root(json, position);
      root["task"].fail(what);
    };
    FinishedExperiment read = read_line(line, position, settings);
    read.line = number;
    const ExperimentId id = read.result.id;
    if (!known.contains(id)) refuse("with an encoding and a seed that manifest.json does not list");
    FinishedExperiment& finished = record.finished[id];
    if (finished.line > 0 && finished.result.status == Status::ok)
      refuse("with an encoding and a seed that an earlier line has");
    finished = std::move(read);
    record.intact += line.size() + 1;
  });
}

}  // namespace

std::string to_text(const Manifest& manifest) {
  const auto write_ids = [](const std::vector<ExperimentId>& ids) {
    return write_list(ids, [](const ExperimentId& id) { return to_json(id); });
  };
  Json json{{"config", manifest.config},      {kSettings, hash_of_settings(manifest)},
            {"shard", manifest.shard.text()}, {"save_models", manifest.save_models},
            {"context", manifest.context},    {"experiments", write_ids(manifest.experiments)}};
  if (!manifest.tuning.empty()) json["tuning"] = write_ids(manifest.tuning);
  return to_file_json(json);
}

Manifest read_run_manifest(const fs::path& path) {
  const std::string file = path.string();
  const Json json = read_json(path);
  const Field root(json, file);
  const auto read_id = [](const Field& field) {
    return ExperimentId{field["task"].name(), field["encoding"].name(), field["seed"].natural()};
  };
  Manifest manifest{.config = root["config"].object(),
                    .context = root["context"].object(),
                    .experiments = read_list<ExperimentId>(root["experiments"], read_id)};
  if (root.has("tuning")) manifest.tuning = read_list<ExperimentId>(root["tuning"], read_id);
  if (root.has("shard")) manifest.shard = read_shard(root["shard"]);
  if (root.has("save_models")) manifest.save_models = root["save_models"].flag();
  return manifest;
}

Json build_of(const Json& context) {
  Json build = Json::object();
  for (const char* key : {"commit", "compiler", "flags", "versions", "plugins"}) {
    if (context.contains(key)) build[key] = context[key];
  }
  return build;
}

std::string hash_of_settings(const Manifest& manifest) {
  return sha256(to_compact_json({manifest.config, build_of(manifest.context)}));
}

std::string to_line(const FinishedExperiment& finished, const std::string& settings) {
  Json json = posbench::to_json(finished.result);
  json["seconds"] = finished.seconds;
  if (!finished.trained_by.empty()) json[kTrainedBy] = finished.trained_by;
  if (!finished.losses_checksum.empty()) json[kLossesChecksum] = finished.losses_checksum;
  json[kOrigin] = hash_of_origin(settings, finished.result.id);
  return with_checksum(to_compact_json(json)) + "\n";
}

RunRecord read_run(const fs::path& path) {
  return read_user_files([&] {
    if (fs::exists(path / kReplacedManifestFile)) {
      throw InputError(fmt::format(
          "{}: a run with --force was interrupted while it replaced this one; give its command with --resume",
          path.string()));
    }
    if (fs::exists(path / kMergedManifestFile) && !fs::exists(path / kManifestFile)) {
      throw InputError(fmt::format(
          "{}: 'posbench merge' was interrupted while it wrote this run; give its command again", path.string()));
    }
    RunRecord record{
        .manifest = read_run_manifest(path / kManifestFile), .finished = {}, .dropped = "", .intact = 0};
    read_lines(path / kLinesFile, record);
    return record;
  });
}

void check_lines(const RunRecord& record, const fs::path& run, const std::vector<TaskBaseline>& tasks) {
  std::map<std::string, const TaskBaseline*> by_name;
  for (const TaskBaseline& task : tasks) by_name[task.task] = &task;
  for (const auto& [id, finished] : record.finished) {
    if (finished.line == 0 || finished.result.tuning) continue;
    const auto task = by_name.find(id.task);
    check_experiment(finished.result, task == by_name.end() ? nullptr : task->second,
                     fmt::format("{}:{}", (run / kLinesFile).string(), finished.line));
  }
}

size_t count_finished(const RunRecord& record) {
  const auto is_finished = [&](const ExperimentId& id) { return record.finished.contains(id); };
  return static_cast<size_t>(std::ranges::count_if(record.manifest.experiments, is_finished));
}

std::string progress_text(const RunRecord& record) {
  return fmt::format("{} of {} experiments", count_finished(record), record.manifest.experiments.size());
}

Report take_report(RunRecord& record, std::vector<TaskBaseline> tasks, Json context) {
  Report report{.context = std::move(context), .config = record.manifest.config, .tasks = std::move(tasks)};
  Json times = Json::array();
  double total = 0;
  for (const ExperimentId& id : record.manifest.experiments) {
    const auto found = record.finished.find(id);
    if (found == record.finished.end()) continue;
    FinishedExperiment& finished = found->second;
    report.experiments.push_back(std::move(finished.result));
    Json time = to_json(id);
    time["seconds"] = finished.seconds;
    if (!finished.trained_by.empty()) time[kTrainedBy] = finished.trained_by;
    total += finished.seconds;
    times.push_back(std::move(time));
  }
  report.timing = {{"core_seconds", total}, {"experiments", times}};
  report.so_far = progress_text(record);
  return report;
}

}  // namespace posbench
