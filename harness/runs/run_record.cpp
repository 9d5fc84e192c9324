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
#include "harness/config/user_files.h"
#include "harness/exchange/checksum.h"
#include "harness/runs/loss_trace.h"
#include "results/json/json.h"
#include "results/reports/experiment_json.h"
#include "results/reports/report_json.h"

namespace posbench {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLineChecksum = "crc32";
constexpr std::string_view kBeforeChecksum = ",\"crc32\":\"", kAfterChecksum = "\"}";

Json to_json(const ExperimentId& id) { return {{"task", id.task}, {"encoding", id.encoding}, {"seed", id.seed}}; }

/// Refuses a line whose checksum does not belong to its other bytes. Lines of older versions have none.
void check_checksum(const Field& line, std::string_view text) {
  if (!line.has(kLineChecksum)) return;
  const Field field = line[kLineChecksum];
  const std::string given = field.text();
  const std::string end = fmt::format("{}{}{}", kBeforeChecksum, given, kAfterChecksum);
  if (!text.ends_with(end)) field.fail("expected the last member, as posbench writes it");
  const std::string expected = crc32_text(text.substr(0, text.size() - end.size()));
  if (given == expected) return;
  field.fail(fmt::format(
      "expected \"{}\": the line was changed; delete it, and 'posbench run --resume' runs its experiment again",
      expected));
}

FinishedExperiment read_line(std::string_view text, const std::string& position) {
  const Json json = parse_json(text, position);
  const Field line(json, position);
  check_checksum(line, text);
  FinishedExperiment read{.result = read_experiment(line)};
  if (line.has("seconds")) read.seconds = line["seconds"].number(0, std::numeric_limits<double>::max());
  if (line.has(kTrainedBy)) read.trained_by = line[kTrainedBy].text();
  if (line.has(kLossesChecksum)) read.losses_checksum = line[kLossesChecksum].text();
  return read;
}

/// Reads the lines of experiments.jsonl into a record that has its manifest.
void read_lines(const fs::path& path, RunRecord& record) {
  std::set<ExperimentId> known(record.manifest.experiments.begin(), record.manifest.experiments.end());
  known.insert(record.manifest.tuning.begin(), record.manifest.tuning.end());
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
    FinishedExperiment read = read_line(line, position);
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

Json to_json(const Manifest& manifest) {
  const auto write_ids = [](const std::vector<ExperimentId>& ids) {
    return write_list(ids, [](const ExperimentId& id) { return to_json(id); });
  };
  Json json{{"config", manifest.config},
            {"shard", manifest.shard.text()},
            {"save_models", manifest.save_models},
            {"context", manifest.context},
            {"experiments", write_ids(manifest.experiments)}};
  if (!manifest.tuning.empty()) json["tuning"] = write_ids(manifest.tuning);
  return json;
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

std::string to_line(const FinishedExperiment& finished) {
  Json json = posbench::to_json(finished.result);
  json["seconds"] = finished.seconds;
  if (!finished.trained_by.empty()) json[kTrainedBy] = finished.trained_by;
  if (!finished.losses_checksum.empty()) json[kLossesChecksum] = finished.losses_checksum;
  std::string text = to_compact_json(json);
  text.pop_back();  // the closing brace
  const std::string checksum = crc32_text(text);
  return fmt::format("{}{}{}{}\n", text, kBeforeChecksum, checksum, kAfterChecksum);
}

RunRecord read_run(const fs::path& path) {
  return read_user_files([&] {
    if (fs::exists(path / kReplacedManifestFile)) {
      throw InputError(fmt::format(
          "{}: a run with --force was interrupted while it replaced this one; give its command with --resume",
          path.string()));
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

Report make_report(RunRecord record, std::vector<TaskBaseline> tasks, Json context) {
  return take_report(record, std::move(tasks), std::move(context));
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
