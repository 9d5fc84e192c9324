#include "harness/runs/run_directory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "harness/config/user_files.h"
#include "harness/exchange/saved_model.h"
#include "harness/runs/checkpoint.h"
#include "harness/runs/loss_trace.h"
#include "harness/runs/page_options.h"
#include "results/json/difference.h"
#include "results/reports/experiment_json.h"
#include "results/reports/report_json.h"

namespace posbench {
namespace {

namespace fs = std::filesystem;

constexpr const char *kManifest = "manifest.json", *kLines = "experiments.jsonl", *kReport = "report.json",
                     *kPage = "report.html", *kModels = "models", *kCheckpoints = "checkpoints";
// The manifests of the new run before a replacement and of the old run during it.
constexpr const char *kNext = "manifest.json.next", *kReplaced = "manifest.json.replaced";

Json to_json(const ExperimentId& id) { return {{"task", id.task}, {"encoding", id.encoding}, {"seed", id.seed}}; }

Json to_json(const Manifest& manifest) {
  return {{"config", manifest.config},
          {"shard", manifest.shard.text()},
          {"save_models", manifest.save_models},
          {"context", manifest.context},
          {"experiments", write_list(manifest.experiments, [](const ExperimentId& id) { return to_json(id); })}};
}

Manifest read_manifest(const fs::path& path) {
  const std::string file = path.string();
  const Json json = read_json(path);
  const Field root(json, file);
  const auto read_id = [](const Field& field) {
    return ExperimentId{field["task"].name(), field["encoding"].name(), field["seed"].natural()};
  };
  Manifest manifest{.config = root["config"].object(),
                    .context = root["context"].object(),
                    .experiments = read_list<ExperimentId>(root["experiments"], read_id)};
  if (root.has("shard")) {
    try {
      manifest.shard = Shard::parse(root["shard"].text());
    } catch (const InputError&) {
      root["shard"].fail("expected K/N, as in 2/4");
    }
  }
  if (root.has("save_models")) manifest.save_models = root["save_models"].flag();
  return manifest;
}

/// Reads the lines of experiments.jsonl into a record that has its manifest.
void read_lines(const fs::path& path, RunRecord& record) {
  const std::set<ExperimentId> known(record.manifest.experiments.begin(), record.manifest.experiments.end());
  const std::string text = read_file(path);
  for (int number = 1; record.intact < text.size(); ++number) {
    const size_t end = text.find('\n', record.intact);
    const std::string position = fmt::format("{}:{}", path.string(), number);
    if (end == text.npos) {
      record.dropped = fmt::format("{}: the last line is truncated; its experiment is run again", position);
      return;
    }
    const Json json = parse_json(std::string_view(text).substr(record.intact, end - record.intact), position);
    const Field line(json, position);
    const ExperimentResult result = read_experiment(line);
    if (known.count(result.id) == 0)
      line["task"].fail("with an encoding and a seed that manifest.json does not list");
    const double seconds = line.has("seconds") ? line["seconds"].number(0, std::numeric_limits<double>::max()) : 0;
    FinishedExperiment& finished = record.finished[result.id];
    if (finished.result.id == result.id && finished.result.status == Status::ok)
      line["task"].fail("with an encoding and a seed that an earlier line has");
    finished = {result, seconds};
    record.intact = end + 1;
  }
}

/// Refuses to resume if the result could differ from that of an uninterrupted run.
void check_same(const fs::path& path, const Manifest& before, const Manifest& now) {
  const auto refuse = [&](const std::string& what) {
    throw InputError(fmt::format("{} {}; use --force or another -o", path.string(), what));
  };
  if (before.config != now.config) refuse("holds another configuration: " + difference(before.config, now.config));
  if (before.shard != now.shard)
    refuse(fmt::format("holds shard {}, and shard {} was requested", before.shard.text(), now.shard.text()));
  if (before.save_models != now.save_models)
    refuse(fmt::format("was started {} --save-models", before.save_models ? "with" : "without"));
  const std::string version = version_difference(before.context, now.context);
  if (!version.empty()) refuse("was made by another posbench: " + version);
  if (before.experiments != now.experiments) refuse("lists other experiments than its configuration has");
}

/// Deletes the temporary files that a killed run has left in a folder.
void remove_temporaries(const fs::path& folder) {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (is_temporary(entry.path())) remove_file(entry.path());
  }
}

/// Refuses a folder without a manifest of posbench, since --force would delete its files.
void check_replaceable(const fs::path& path) {
  try {
    read_manifest(path / (fs::exists(path / kManifest) ? kManifest : kReplaced));
  } catch (const std::runtime_error& error) {
    throw InputError(
        fmt::format("{} is not a run directory ({}); choose another -o", path.string(), error.what()));
  }
}

/// Returns a line of experiments.jsonl.
std::string to_line(const ExperimentResult& result, double seconds) {
  Json json = posbench::to_json(result);
  json["seconds"] = seconds;
  return compact(json) + "\n";
}

}  // namespace

RunRecord read_run(const fs::path& path) {
  return read_user_files([&] {
    if (fs::exists(path / kReplaced)) {
      throw InputError(fmt::format(
          "{}: a run with --force was interrupted while it replaced this one; give its command with --resume",
          path.string()));
    }
    RunRecord record{.manifest = read_manifest(path / kManifest), .finished = {}, .dropped = "", .intact = 0};
    read_lines(path / kLines, record);
    return record;
  });
}

std::string progress_text(const RunRecord& record) {
  return fmt::format("{} of {} experiments", record.finished.size(), record.manifest.experiments.size());
}

Report make_report(const RunRecord& record, std::vector<TaskBaseline> tasks, Json context) {
  Report report{.context = std::move(context), .config = record.manifest.config, .tasks = std::move(tasks)};
  Json times = Json::array();
  double total = 0;
  for (const ExperimentId& id : record.manifest.experiments) {
    const auto found = record.finished.find(id);
    if (found == record.finished.end()) continue;
    const auto& [result, seconds] = found->second;
    report.experiments.push_back(result);
    Json time = to_json(id);
    time["seconds"] = seconds;
    total += seconds;
    times.push_back(std::move(time));
  }
  report.timing = {{"core_seconds", total}, {"experiments", times}};
  report.so_far = progress_text(record);
  return report;
}

std::string difference(const Json& before, const Json& now) {
  const std::optional<JsonDifference> found = first_difference(before, now);
  if (!found) return "";
  return fmt::format("{} was {} and is now {}", found->path.empty() ? "it" : found->path, found->first,
                     found->second);
}

std::string version_difference(const Json& before, const Json& now) {
  const auto version = [](const Json& context) {
    Json version = Json::object();
    for (const char* key : {"commit", "compiler", "flags", "versions", "plugins"}) {
      if (context.contains(key)) version[key] = context[key];
    }
    return version;
  };
  return difference(version(before), version(now));
}

bool is_taken(const fs::path& path) {
  if (!fs::exists(path)) return false;
  return !fs::is_directory(path) ||
         !std::all_of(
             fs::directory_iterator(path), fs::directory_iterator(), [](const fs::directory_entry& entry) {
               return is_temporary(entry.path()) || (entry.path().filename() == kLines && entry.file_size() == 0);
             });
}

RunDirectory::RunDirectory(fs::path path, Existing existing, Manifest manifest) : path_(std::move(path)) {
  record_.manifest = std::move(manifest);
  read_user_files([&] { open(existing); });
}

void RunDirectory::open(Existing existing) {
  if (!is_taken(path_)) return create();
  if (existing == Existing::refuse) {
    throw InputError(fmt::format(
        "{} exists; add --resume to continue it, --force to replace it, or choose another -o", path_.string()));
  }
  if (!fs::exists(path_ / kManifest) && !fs::exists(path_ / kReplaced)) {
    throw InputError(
        fmt::format("{} is not a run directory (it has no manifest.json); choose another -o", path_.string()));
  }
  if (existing == Existing::replace) check_replaceable(path_);
  lock(O_RDWR | O_APPEND);
  finish_replacing();
  existing == Existing::resume ? resume() : replace();
}

void RunDirectory::create() {
  make_folder(path_);
  if (access(path_.c_str(), W_OK) != 0) throw InputError(fmt::format("cannot write into {}", path_.string()));
  lock(O_RDWR | O_APPEND | O_CREAT);
  remove_temporaries(path_);
  write_file(path_ / kManifest, pretty(to_json(record_.manifest)));
}

void RunDirectory::resume() {
  RunRecord found = read_run(path_);
  check_same(path_, found.manifest, record_.manifest);
  for (const auto& [id, finished] : found.finished) {
    const fs::path model = model_path(path_, id);
    if (found.manifest.save_models && finished.result.status == Status::ok && !fs::exists(model)) {
      throw InputError(
          fmt::format("{} is missing, and its experiment is finished; use --force or another -o", model.string()));
    }
  }
  found.manifest = std::move(record_.manifest);
  record_ = std::move(found);
  size_ = static_cast<off_t>(record_.intact);
  if (!record_.dropped.empty()) lines_->truncate(size_);
  for (const fs::path& folder : {path_, path_ / kModels, path_ / kCheckpoints}) remove_temporaries(folder);
  for (const auto& [id, finished] : record_.finished) remove_file(checkpoint_path(path_, id));
}

void RunDirectory::replace() {
  const Manifest replaced = read_manifest(path_ / kManifest);
  write_file(path_ / kNext, pretty(to_json(record_.manifest)));
  rename_file(path_ / kManifest, path_ / kReplaced);
  rename_file(path_ / kNext, path_ / kManifest);
  remove_results(replaced);
}

/// Completes or undoes a replacement that was interrupted.
void RunDirectory::finish_replacing() {
  remove_file(path_ / kNext);
  if (!fs::exists(path_ / kReplaced)) return;
  if (!fs::exists(path_ / kManifest)) return rename_file(path_ / kReplaced, path_ / kManifest);
  remove_results(read_manifest(path_ / kReplaced));
}

/// Deletes the files that a replaced run has listed, then its manifest.
void RunDirectory::remove_results(const Manifest& replaced) {
  for (const ExperimentId& id : replaced.experiments) {
    remove_file(model_path(path_, id));
    remove_file(checkpoint_path(path_, id));
    remove_file(trace_path(path_, id));
  }
  for (const char* folder : {kModels, kCheckpoints, kLossFolder}) {
    remove_temporaries(path_ / folder);
    rmdir((path_ / folder).c_str());  // fails if the folder has other files
  }
  remove_temporaries(path_);
  remove_file(path_ / kReport);
  remove_file(path_ / kPage);
  lines_->truncate(0);
  lines_->flush();
  remove_file(path_ / kReplaced);
  flush_folder(path_);
}

void RunDirectory::lock(int flags) {
  lines_ = std::make_unique<File>(path_ / kLines, flags);
  if (!lines_->lock()) {
    throw InputError(
        fmt::format("{} is in use by another posbench; wait for it, or choose another -o", path_.string()));
  }
  lines_->check_in_place();  // the folder may have been replaced between opening and locking
}

void RunDirectory::make_folders() const {
  check_in_place();
  make_folder(path_ / kCheckpoints);
  if (record_.manifest.save_models) make_folder(path_ / kModels);
}

/// Appends whole lines or nothing.
void RunDirectory::write_lines(const std::string& lines) {
  check_in_place();
  if (lines_->size() != size_) lines_->truncate(size_);  // removes part of a line whose writing failed
  try {
    lines_->write(lines);
    lines_->flush();
  } catch (const FileError&) {
    lines_->truncate(size_);  // a shorter line may still fit on the disk
    throw;
  }
  size_ += static_cast<off_t>(lines.size());
}

void RunDirectory::append(const ExperimentResult& result, double seconds) {
  write_lines(to_line(result, seconds));
  record_.finished[result.id] = {result, seconds};
  std::error_code ignored;
  fs::remove(checkpoint_path(path_, result.id), ignored);
}

void RunDirectory::import_results(std::map<ExperimentId, FinishedExperiment> finished) {
  std::string lines;
  for (const ExperimentId& id : record_.manifest.experiments)
    lines += to_line(finished.at(id).result, finished.at(id).seconds);
  write_lines(lines);
  record_.finished = std::move(finished);
}

void RunDirectory::forget_failed() {
  std::erase_if(record_.finished, [](const auto& item) { return item.second.result.status != Status::ok; });
  remove_file(path_ / kReport);
  remove_file(path_ / kPage);
}

void RunDirectory::remove_checkpoints() const {
  for (const ExperimentId& id : record_.manifest.experiments) remove_file(checkpoint_path(path_, id));
  remove_temporaries(path_ / kCheckpoints);
  rmdir((path_ / kCheckpoints).c_str());
}

Report RunDirectory::write_report(const std::vector<TaskBaseline>& tasks, Json context) const {
  check_in_place();
  Report report = make_report(record_, tasks, std::move(context));
  report.so_far.clear();
  write_file(path_ / kReport, pretty(posbench::to_json(report)));
  write_page(page(report));
  return report;
}

std::string RunDirectory::page(const Report& report) const {
  const NamedReport run{path_.string(), report};
  return report_page({&run, 1}, page_options({&run, 1}, path_ / kPage));
}

void RunDirectory::write_page(const std::string& page) const { write_file(path_ / kPage, page); }

}  // namespace posbench
