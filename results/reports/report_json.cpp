#include "results/reports/report_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/printable.h"
#include "results/json/checksum.h"
#include "results/json/read_bytes.h"
#include "results/reports/experiment_json.h"
#include "results/reports/experiment_lines.h"
#include "results/reports/summary_json.h"

namespace posbench {
namespace {

Json write_baseline_split(const SplitBaseline& split) {
  Json json;
  json["name"] = split.name;
  json["kind"] = to_string(split.kind);
  json["chance"] = split.chance;
  json["trivial"] = Json::object();
  for (const auto& [predictor, accuracy] : split.trivial) json["trivial"][predictor] = accuracy;
  if (split.entropy) json["entropy"] = *split.entropy;
  if (split.seen_in_training) json["seen_in_training"] = *split.seen_in_training;
  if (!split.exempt_lengths.empty()) json["exempt_lengths"] = split.exempt_lengths;
  if (split.options) {
    json["options"] = Json::object();
    for (const auto& [option, value] : *split.options) json["options"][option] = value;
  }
  return json;
}

SplitBaseline read_baseline_split(const Field& json) {
  SplitBaseline split{.name = json["name"].name(),
                      .kind = json["kind"].enumerator<SplitKind>(),
                      .chance = json["chance"].number(0, 1)};
  const Field trivial = json["trivial"];
  for (const auto& [predictor, accuracy] : trivial.object().items()) {
    split.trivial[predictor] = trivial[predictor.c_str()].number(0, 1);
  }
  if (json.has("entropy")) split.entropy = json["entropy"].number(0, 1e6);
  if (json.has("seen_in_training")) split.seen_in_training = json["seen_in_training"].number(0, 1);
  if (json.has("exempt_lengths")) {
    split.exempt_lengths = read_list<int>(json["exempt_lengths"], [](const Field& length) {
      return static_cast<int>(length.integer(0, std::numeric_limits<int>::max()));
    });
  }
  if (json.has("options")) {
    const Field options = json["options"];
    split.options.emplace();
    for (const auto& [option, value] : options.object().items())
      (*split.options)[option] = options[option.c_str()].text();
  }
  return split;
}

TaskBaseline read_task(const Field& json) {
  TaskBaseline task{.task = json["task"].name(),
                    .version = static_cast<int>(json["version"].integer(1, std::numeric_limits<int>::max())),
                    .splits = read_list<SplitBaseline>(json["splits"], read_baseline_split)};
  if (json.has("training_samples")) {
    task.training_samples = static_cast<int>(json["training_samples"].integer(0, std::numeric_limits<int>::max()));
  }
  const Field splits = json["splits"];
  check_unique(splits, task.splits, "name", &SplitBaseline::name, "the name of an earlier split too");
  return task;
}

std::vector<TaskBaseline> read_tasks(const Field& json) {
  std::vector<TaskBaseline> tasks = read_list<TaskBaseline>(json, read_task);
  check_unique(json, tasks, "task", &TaskBaseline::task, "listed before");
  return tasks;
}

void check_experiments(const Report& report, const std::string& file) {
  std::map<std::string, const TaskBaseline*> tasks;
  for (const TaskBaseline& task : report.tasks) tasks[task.task] = &task;
  std::set<ExperimentId> seen;
  for (size_t i = 0; i < report.experiments.size(); ++i) {
    const ExperimentResult& experiment = report.experiments[i];
    const std::string place = fmt::format("experiments[{}].", i);
    const auto task = tasks.find(experiment.id.task);
    check_experiment(experiment, task == tasks.end() ? nullptr : task->second, file, place);
    if (!seen.insert(experiment.id).second) {
      throw_json_error(file, place + "seed", experiment.id.seed, "given before with the same task and encoding");
    }
  }
}

/// Throws InputError if a file is empty, or is the page of a report.
void check_text(std::string_view text, const std::string& file) {
  const size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin != text.npos && text[begin] != '<') return;
  throw InputError(to_printable(fmt::format("{} is {}; give report.json of a run, or its directory", file,
                                            begin == text.npos ? "empty" : "a page, not a report")));
}

bool is_manifest(const Json& json) { return json.contains("save_models"); }

void check_version(const Json& json, const std::string& file) {
  const Field root(json, file);
  if (json.is_object() && !json.contains("schema_version")) {
    throw InputError(to_printable(
        file +
        (is_manifest(json)
             ? " is the manifest of a run; give its directory"
             : ": schema_version is missing, so this is no report; give report.json of a run, or its directory")));
  }
  const Field version = root["schema_version"];
  if (version.integer(1, std::numeric_limits<int>::max()) > kSchemaVersion) {
    version.fail(
        fmt::format("newer than {}, the newest that this posbench reads; use a newer posbench", kSchemaVersion));
  }
}

/// Reads everything but the experiments.
Report read_frame(const Json& json, const std::string& file) {
  check_version(json, file);
  const Field root(json, file);
  return {.context = root["context"].object(),
          .config = root["config"].object(),
          .tasks = read_tasks(root["tasks"]),
          .experiments = {},
          .timing = root["timing"].object()};
}

/// Returns true for parts of a report that are computed from the experiments, such as its summary, and for unknown
/// parts.
bool is_unread(std::string_view key) {
  constexpr std::string_view kRead[] = {"schema_version", "context", "config", "tasks", "experiments", "timing"};
  return std::find(std::begin(kRead), std::end(kRead), key) == std::end(kRead);
}

/// Reads a report. `read` parses its text, apart from the first experiments, which `first` returns afterwards.
Report read_report(const std::string& file, const std::function<Json(const TakeItem&)>& read,
                   const std::function<std::vector<ExperimentResult>()>& first) {
  std::vector<ExperimentResult> last;
  const auto take = [&](const Json& before, const std::string& key, const Json& item, size_t index) {
    if (key != "experiments") return is_unread(key);
    if (index == 0 && (before.contains("schema_version") || is_manifest(before))) check_version(before, file);
    last.push_back(read_experiment(Field(item, file, "experiments", index)));
    return true;
  };
  const Json rest = read(take);
  Report report = report_from_json(rest, file);  // rejects other values than a list of experiments
  report.experiments = first();
  if (!report.experiments.empty() && last.empty()) throw InputError("a comma follows the last experiment");
  std::ranges::move(last, std::back_inserter(report.experiments));
  check_experiments(report, file);
  return report;
}

/// Reads a report in the order of its text, so that errors are those of its first wrong place.
Report read_in_order(ByteSource& source) {
  check_text(source.block(), source.name());
  return read_report(
      source.name(), [&](const TakeItem& take) { return read_json(source, take); },
      [] { return std::vector<ExperimentResult>(); });
}

/// Reads the experiments of a report on all cores. Returns nothing if read_in_order() has to tell what is wrong.
std::optional<Report> read_in_parallel(const std::filesystem::path& path) {
  try {
    ByteSource source(path);
    if (!source.block().starts_with("{\n")) return std::nullopt;  // it has other lines, which may be long
    ExperimentLines lines(source);
    return read_report(
        source.name(),
        [&](const TakeItem& take) {
          Json rest = read_json(lines, source.name(), take);
          source.check_checksum();
          return rest;
        },
        [&] { return lines.finish(); });
  } catch (const InputError&) {
    return std::nullopt;
  }
}

/// Returns the JSON of a report with an empty list of experiments.
Json write_frame(const Report& report, const Summary& summary) {
  return {{"schema_version", kSchemaVersion},
          {"context", report.context},
          {"config", report.config},
          {"tasks", write_list(report.tasks, [](const TaskBaseline& task) { return to_json(task); })},
          {"experiments", Json::array()},
          {"summary", write_list(summary.rows, [](const SummaryRow& row) { return to_json(row); })},
          {"ranking", write_list(summary.ranking, [](const Ranking& ranking) { return to_json(ranking); })},
          {"timing", report.timing}};
}

}  // namespace

Json to_json(const TaskBaseline& task) {
  Json json;
  json["task"] = task.task;
  json["version"] = task.version;
  if (task.training_samples) json["training_samples"] = *task.training_samples;
  json["splits"] = write_list(task.splits, write_baseline_split);
  return json;
}

Json to_json(const Report& report) {
  Json json = write_frame(report, summarize(report));
  json["experiments"] = write_list(report.experiments, [](const ExperimentResult& e) { return to_json(e); });
  return json;
}

void write_report_text(const Report& report, const Summary& summary,
                       const std::function<void(std::string_view)>& write) {
  std::string last;  // piece, which gets the checksum
  std::uint32_t before = 0;
  write_indented_json(
      write_frame(report, summary), "experiments", report.experiments.size(),
      [&](size_t i) { return to_json(report.experiments[i]); },
      [&](std::string_view piece) {
        write(last);
        before = crc32_after(before, last);
        last = piece;
      });
  write(with_checksum(last, before));
}

Report report_from_json(const Json& json, const std::string& file) {
  Report report = read_frame(json, file);
  const Field root(json, file);
  report.experiments =
      read_list<ExperimentResult>(root["experiments"], [](const Field& item) { return read_experiment(item); });
  check_experiments(report, file);
  return report;
}

void check_experiment(const ExperimentResult& experiment, const TaskBaseline* task, const std::string& file,
                      const std::string& place) {
  if (!task) throw_json_error(file, place + "task", experiment.id.task, "not listed in 'tasks'");
  if (task->version != experiment.task_version) {
    throw_json_error(file, place + "task_version", experiment.task_version,
                     fmt::format("but {} in 'tasks'", task->version));
  }
  for (size_t i = 0; i < experiment.splits.size(); ++i) {
    const SplitResult& split = experiment.splits[i];
    const auto same = [&](const SplitBaseline& b) { return b.name == split.name && b.kind == split.kind; };
    if (std::ranges::none_of(task->splits, same)) {
      throw_json_error(file, fmt::format("{}splits[{}].name", place, i), split.name,
                       fmt::format("not a split of its task with kind {}", to_string(split.kind)));
    }
  }
  if (experiment.status == Status::ok && experiment.splits.size() != task->splits.size()) {
    throw_json_error(
        file, place + "splits", Json::array(),
        fmt::format("with {} of the {} splits of its task", experiment.splits.size(), task->splits.size()));
  }
}

std::filesystem::path find_report(const std::filesystem::path& directory) {
  for (const char* name : {"report.json", "report.json.gz"}) {
    if (std::filesystem::exists(directory / name)) return directory / name;
  }
  return {};
}

Report read_report(const std::filesystem::path& path) {
  if (std::filesystem::is_regular_file(path)) {  // a pipe cannot be read twice
    if (std::optional<Report> report = read_in_parallel(path)) return *std::move(report);
  }
  ByteSource source(path);
  return read_in_order(source);
}

Report parse_report(std::string_view bytes, const std::string& file) {
  ByteSource source(bytes, file);
  return read_in_order(source);
}

}  // namespace posbench
