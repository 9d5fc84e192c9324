#include "harness/runs/run_directory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/parallel_for.h"
#include "harness/config/user_files.h"
#include "harness/exchange/saved_model.h"
#include "harness/runs/checkpoint.h"
#include "harness/runs/loss_trace.h"
#include "harness/runs/page_options.h"
#include "results/document/render.h"
#include "results/json/difference.h"
#include "results/presentation/report_document.h"
#include "results/reports/report_json.h"

namespace posbench {
namespace {

namespace fs = std::filesystem;

constexpr const char *kModels = "models", *kCheckpoints = "checkpoints";
constexpr auto kReplace = OutputFile::Links::replace;  // a backup of a run may have the same files
constexpr const char* kNext = "manifest.json.next";    // of the new run before --force replaces the old one

/// Refuses to resume if the result could differ from that of an uninterrupted run.
void check_same(const fs::path& path, const Manifest& before, const Manifest& now) {
  const auto refuse = [&](const std::string& what) {
    throw InputError(fmt::format("{} {}; use --force or another -o", path.string(), what));
  };
  if (before.config != now.config) {
    refuse(fmt::format("holds another configuration: {}; 'posbench run --resume -o {}' continues it with its own",
                       difference(before.config, now.config), path.string()));
  }
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
    if (is_temporary(entry.path()) && !entry.is_directory(error)) remove_file(entry.path());
  }
}

/// Refuses to resume without the models of finished experiments. An extended result has no model of its own.
void check_models(const fs::path& path, const RunRecord& record) {
  if (!record.manifest.save_models) return;
  for (const auto& [id, finished] : record.finished) {
    const fs::path model = model_path(path, id);
    if (finished.result.status != Status::ok || finished.result.extended || finished.result.tuning ||
        fs::exists(model))
      continue;
    throw InputError(
        fmt::format("{} is missing, and its experiment is finished; use --force or another -o", model.string()));
  }
}

/// Refuses to resume if the losses of an experiment are not those that it wrote. An experiment that diverged or
/// failed is run again instead. The user may have deleted the file.
void check_losses(const fs::path& path, RunRecord& record) {
  for (auto item = record.finished.begin(); item != record.finished.end();) {
    const FinishedExperiment& finished = item->second;
    const fs::path file = trace_path(path, item->first);
    const std::string now = finished.losses_checksum.empty() ? "" : trace_checksum(file);
    if (now.empty() || now == finished.losses_checksum) {
      ++item;
      continue;
    }
    if (finished.result.status == Status::ok) {
      throw InputError(
          fmt::format("{}: its checksum is {}, expected {}: it was changed; restore it, or delete line {} of {}, "
                      "and --resume runs its experiment again",
                      file.string(), now, finished.losses_checksum, finished.line, (path / kLinesFile).string()));
    }
    item = record.finished.erase(item);
  }
}

}  // namespace

void check_replaceable(const fs::path& path) {
  try {
    read_run_manifest(path / (fs::exists(path / kManifestFile) ? kManifestFile : kReplacedManifestFile));
  } catch (const std::runtime_error& error) {
    throw InputError(
        fmt::format("{} is not a run directory ({}); choose another -o", path.string(), error.what()));
  }
}

bool has_begun(const std::filesystem::path& run) {
  std::error_code ignored;
  const auto lines = std::filesystem::file_size(run / kLinesFile, ignored);
  if (!ignored && lines > 0) return true;
  return std::filesystem::exists(run / kCheckpoints) && !std::filesystem::is_empty(run / kCheckpoints, ignored);
}

std::string difference(const Json& before, const Json& now) {
  const std::vector<JsonDifference> all = differences(before, now);
  if (all.empty()) return "";
  const auto& [path, first, second] = all.front();
  return fmt::format("{} was {} and is now {}", path.empty() ? "it" : path, first, second);
}

std::string version_difference(const Json& before, const Json& now) {
  return difference(build_of(before), build_of(now));
}

bool is_taken(const fs::path& path) {
  if (!fs::exists(path)) return false;
  if (!fs::is_directory(path))
    throw InputError(fmt::format("{} is a file, expected a directory to write; choose another -o", path.string()));
  if (fs::exists(path / kManifestFile)) return true;
  if (fs::exists(path / kMergedManifestFile)) return false;
  if (fs::exists(path / kReplacedManifestFile)) return true;
  for (const fs::directory_entry& entry : fs::directory_iterator(path)) {
    const fs::path name = entry.path().filename();
    if (is_temporary(name) || name == "lost+found" || (name == kLinesFile && entry.file_size() == 0)) continue;
    throw InputError(
        fmt::format("{} has {}, and is not a run directory (it has no manifest.json); choose another -o",
                    path.string(), name.string()));
  }
  return false;
}

RunDirectory::RunDirectory(fs::path path, Existing existing, Manifest manifest, Writer writer)
    : path_(std::move(path)), is_merging_(writer == Writer::merge) {
  record_.manifest = std::move(manifest);
  settings_ = hash_of_settings(record_.manifest);
  try {
    read_user_files([&] { open(existing); });
  } catch (...) {
    discard_merge();
    throw;
  }
}

RunDirectory::~RunDirectory() { discard_merge(); }

void RunDirectory::open(Existing existing) {
  if (!is_taken(path_)) return create();
  if (existing != Existing::resume) check_replaceable(path_);
  if (existing == Existing::refuse) {
    throw InputError(fmt::format(
        "{} exists; add --resume to continue it, --force to replace it, or choose another -o", path_.string()));
  }
  lock(O_RDWR | O_APPEND);
  separate_lines();
  finish_replacing();
  existing == Existing::resume ? resume() : replace();
}

void RunDirectory::create() {
  check_output_folder(path_, path_);
  is_new_ = !fs::exists(path_);
  make_folder(path_);
  lock(O_RDWR | O_APPEND | O_CREAT);
  finish_replacing();
  remove_unfinished_merge();
  remove_temporaries(path_);
  write_file(path_ / (is_merging_ ? kMergedManifestFile : kManifestFile), to_text(record_.manifest), kReplace);
}

void RunDirectory::resume() {
  RunRecord found = read_run(path_);
  check_same(path_, found.manifest, record_.manifest);
  check_models(path_, found);
  check_losses(path_, found);
  for (const char* key : {"started", "command"}) {  // of the command that began the run, which has its options
    if (found.manifest.context.contains(key)) record_.manifest.context[key] = found.manifest.context[key];
  }
  found.manifest = std::move(record_.manifest);
  record_ = std::move(found);
  size_ = static_cast<off_t>(record_.intact);
  if (!record_.dropped.empty()) lines_->truncate(size_);
  for (const char* folder : {"", kModels, kCheckpoints, kLossFolder}) remove_temporaries(path_ / folder);
  for (const auto& [id, finished] : record_.finished) remove_file(checkpoint_path(path_, id));
}

void RunDirectory::replace() {
  const Manifest replaced = read_run_manifest(path_ / kManifestFile);
  write_file(path_ / (is_merging_ ? kMergedManifestFile : kNext), to_text(record_.manifest), kReplace);
  rename_file(path_ / kManifestFile, path_ / kReplacedManifestFile);
  if (!is_merging_) rename_file(path_ / kNext, path_ / kManifestFile);
  remove_results(replaced);
}

/// Completes or undoes a replacement that was interrupted.
void RunDirectory::finish_replacing() {
  remove_file(path_ / kNext);
  const bool has_manifest = fs::exists(path_ / kManifestFile);
  if (has_manifest) remove_file(path_ / kMergedManifestFile);
  if (!fs::exists(path_ / kReplacedManifestFile)) return;
  if (!has_manifest && !fs::exists(path_ / kMergedManifestFile))
    return rename_file(path_ / kReplacedManifestFile, path_ / kManifestFile);
  remove_results(read_run_manifest(path_ / kReplacedManifestFile));
}

/// Deletes what an interrupted merge has written.
void RunDirectory::remove_unfinished_merge() {
  if (!fs::exists(path_ / kMergedManifestFile)) return;
  remove_results(read_run_manifest(path_ / kMergedManifestFile));
  remove_file(path_ / kMergedManifestFile);
}

/// Deletes a merged run that is not complete. The run that it was to replace stays, if nothing of it was deleted
/// yet.
void RunDirectory::discard_merge() noexcept {
  if (!is_merging_) return;
  try {
    if (lines_) {
      lines_->check_in_place();
      finish_replacing();
      if (fs::exists(path_ / kManifestFile)) return;
      remove_unfinished_merge();
      remove_file(path_ / kLinesFile);
    }
    if (is_new_) rmdir(path_.c_str());
  } catch (const std::exception&) {  // the next process that opens the directory deletes the rest
  }
}

void RunDirectory::finish_merge() {
  check_in_place();
  rename_file(path_ / kMergedManifestFile, path_ / kManifestFile);
  is_merging_ = false;
}

/// Deletes the files that a replaced run has listed, then its manifest.
void RunDirectory::remove_results(const Manifest& replaced) {
  for (const std::vector<ExperimentId>& ids : {replaced.experiments, replaced.tuning}) {
    for (const ExperimentId& id : ids) {
      remove_file(model_path(path_, id));
      remove_file(checkpoint_path(path_, id));
      remove_file(trace_path(path_, id));
    }
  }
  for (const char* folder : {kModels, kCheckpoints, kLossFolder}) {
    remove_temporaries(path_ / folder);
    rmdir((path_ / folder).c_str());  // fails if the folder has other files
  }
  remove_temporaries(path_);
  remove_file(path_ / kReportFile);
  remove_file(path_ / kPageFile);
  lines_->truncate(0);
  lines_->flush();
  remove_file(path_ / kReplacedManifestFile);
  flush_folder(path_);
}

void RunDirectory::lock(int flags) {
  auto lines = std::make_unique<File>(path_ / kLinesFile, flags);
  if (!lines->lock()) {
    throw InputError(
        fmt::format("{} is in use by another posbench; wait for it, or choose another -o", path_.string()));
  }
  lines->check_in_place();  // the folder may have been replaced between opening and locking
  lines_ = std::move(lines);
}

/// Gives experiments.jsonl a file of its own if it has other names: a backup of hard links keeps its lines.
void RunDirectory::separate_lines() {
  if (!lines_->is_linked()) return;
  const fs::path copy = temporary_name(path_);
  File(copy, O_WRONLY | O_CREAT | O_EXCL).write(lines_->read());
  rename_file(copy, path_ / kLinesFile);
  lock(O_RDWR | O_APPEND);
}

void RunDirectory::check_in_place() const {
  lines_->check_in_place();
  const fs::path manifest = path_ / (is_merging_ ? kMergedManifestFile : kManifestFile);
  if (!fs::exists(manifest)) {
    throw FileError(fmt::format("'{}' was deleted while the run used it; restore it, or start another run",
                                manifest.string()));
  }
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
  FinishedExperiment finished{
      .result = result, .seconds = seconds, .losses_checksum = trace_checksum(trace_path(path_, result.id))};
  write_lines(to_line(finished, settings_));
  record_.finished[result.id] = std::move(finished);
  std::error_code ignored;
  fs::remove(checkpoint_path(path_, result.id), ignored);
}

void RunDirectory::import_results(std::map<ExperimentId, FinishedExperiment> finished) {
  std::vector<const FinishedExperiment*> added;
  for (const ExperimentId& id : record_.manifest.experiments) {
    const auto found = finished.find(id);
    if (found == finished.end() || record_.finished.contains(id)) continue;
    found->second.line = 0;
    added.push_back(&found->second);
  }
  std::string lines;
  constexpr size_t kWrittenAtOnce = 1 << 24;
  write_in_order(
      added.size(), [&](size_t n) { return to_line(*added[n], settings_); },
      [&](std::string_view line) {
        lines += line;
        if (lines.size() < kWrittenAtOnce) return;
        write_lines(lines);
        lines.clear();
      });
  write_lines(lines);
  record_.finished.merge(std::move(finished));
}

size_t RunDirectory::count_checkpoints() const {
  std::error_code ignored;
  const auto is_kept = [&](const ExperimentId& id) {
    return !record_.finished.contains(id) && fs::exists(checkpoint_path(path_, id), ignored);
  };
  return static_cast<size_t>(std::ranges::count_if(record_.manifest.experiments, is_kept));
}

void RunDirectory::remove_checkpoints() const {
  for (const ExperimentId& id : record_.manifest.experiments) remove_file(checkpoint_path(path_, id));
  remove_temporaries(path_ / kCheckpoints);
  rmdir((path_ / kCheckpoints).c_str());
}

SummarizedReport RunDirectory::write_report(const std::vector<TaskBaseline>& tasks, Json context) {
  check_in_place();
  check_lines(record_, path_, tasks);
  SummarizedReport done{take_report(record_, tasks, std::move(context))};
  done.report.so_far.clear();
  OutputFile file(path_ / kReportFile, OutputFile::Order::sequential, kReplace);
  write_report_text(done.report, done.summary, [&](std::string_view text) { file.write(text); });
  file.finish();
  write_page(page(done));
  return done;
}

std::string RunDirectory::page(const SummarizedReport& shown) const {
  const NamedReport run{path_.string(), shown.report};
  return to_html(make_report_document({&run, 1}, {}, page_options(), shown.summary));
}

void RunDirectory::write_page(const std::string& page) const { write_file(path_ / kPageFile, page, kReplace); }

}  // namespace posbench
