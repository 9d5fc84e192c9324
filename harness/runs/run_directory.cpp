#include "harness/runs/run_directory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include "harness/runs/checkpoint.h"
#include "results/presentation/report_page.h"
#include "results/reports/experiment_json.h"
#include "results/reports/report_json.h"

namespace posbench {
namespace {

namespace fs = std::filesystem;

constexpr const char *kManifest = "manifest.json", *kLines = "experiments.jsonl", *kReport = "report.json",
                     *kPage = "report.html";

/// What cannot be read, or not be used, is the user's to mend.
template <class F>
auto as_input(F f) {
  try {
    return f();
  } catch (const std::runtime_error& error) {
    throw std::invalid_argument(error.what());
  }
}

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
    } catch (const std::invalid_argument&) {
      root["shard"].fail("expected K/N, as in 2/4");
    }
  }
  if (root.has("save_models")) manifest.save_models = root["save_models"].flag();
  return manifest;
}

/// The lines of experiments.jsonl into a record whose manifest has been read.
void read_lines(const fs::path& path, RunRecord& record) {
  const std::set<ExperimentId> known(record.manifest.experiments.begin(), record.manifest.experiments.end());
  const std::string text = read_file(path);
  for (int number = 1; record.intact < text.size(); ++number) {
    const size_t end = text.find('\n', record.intact);
    const std::string place = fmt::format("{}:{}", path.string(), number);
    if (end == text.npos) {
      record.dropped = fmt::format("{}: the last line is cut off; its experiment is done again", place);
      return;
    }
    const Json json = parse_json(std::string_view(text).substr(record.intact, end - record.intact), place);
    const Field line(json, place);
    const ExperimentResult result = read_experiment(line);
    if (known.count(result.id) == 0)
      line["task"].fail("with an encoding and a seed that manifest.json does not list");
    const double seconds = line.has("seconds") ? line["seconds"].number(0, std::numeric_limits<double>::max()) : 0;
    if (!record.finished.emplace(result.id, Finished{result, seconds}).second)
      line["task"].fail("with an encoding and a seed that an earlier line has");
    record.intact = end + 1;
  }
}

/// Refuses what would not give the bytes of an unbroken run.
void check_same(const fs::path& path, const Manifest& before, const Manifest& now) {
  const auto refuse = [&](const std::string& what) {
    throw std::invalid_argument(fmt::format("{} {}; use --force or another -o", path.string(), what));
  };
  if (before.config != now.config) refuse("holds another configuration: " + difference(before.config, now.config));
  if (before.shard != now.shard)
    refuse(fmt::format("holds shard {}, and shard {} is asked for", before.shard.text(), now.shard.text()));
  if (before.save_models != now.save_models)
    refuse(fmt::format("was begun {} --save-models", before.save_models ? "with" : "without"));
  const std::string version = version_difference(before.context, now.context);
  if (!version.empty()) refuse("was made by another posbench: " + version);
  if (before.experiments != now.experiments) refuse("lists other experiments than its configuration has");
}

/// Whether a folder is empty, but for what a run leaves that was killed before its manifest was there.
bool holds_nothing(const fs::path& path) {
  return std::all_of(fs::directory_iterator(path), fs::directory_iterator(), [](const fs::directory_entry& entry) {
    const std::string name = entry.path().filename().string();
    return (name == kLines && entry.file_size() == 0) || name == std::string(kManifest) + ".tmp";
  });
}

/// Lines as experiments.jsonl holds them.
std::string line(const ExperimentResult& result, double seconds) {
  Json json = posbench::to_json(result);
  json["seconds"] = seconds;
  return compact(json) + "\n";
}

}  // namespace

RunRecord read_run(const fs::path& path) {
  return as_input([&] {
    RunRecord record{.manifest = read_manifest(path / kManifest), .finished = {}, .dropped = "", .intact = 0};
    read_lines(path / kLines, record);
    return record;
  });
}

std::string difference(const Json& before, const Json& now) {
  const Json patch = Json::diff(before, now);
  if (patch.empty()) return "";
  const std::string place = patch.at(0).at("path");
  const Json::json_pointer pointer(place);
  const auto value = [&](const Json& json) {
    return json.contains(pointer) ? shown(json.at(pointer)) : "missing";
  };
  return fmt::format("{} was {} and is now {}", place.empty() ? "it" : place.substr(1), value(before), value(now));
}

std::string version_difference(const Json& before, const Json& now) {
  const auto version = [](const Json& context) {
    Json version = Json::object();
    for (const char* key : {"commit", "compiler", "flags", "versions"}) {
      if (context.contains(key)) version[key] = context[key];
    }
    return version;
  };
  return difference(version(before), version(now));
}

RunDirectory::RunDirectory(fs::path path, Existing existing, Manifest manifest) : path_(std::move(path)) {
  record_.manifest = std::move(manifest);
  as_input([&] {
    const bool there = fs::exists(path_) && !(fs::is_directory(path_) && holds_nothing(path_));
    if (there && existing == Existing::refuse) {
      throw std::invalid_argument(
          fmt::format("{} exists; add --resume to go on with it, --force to replace it, or choose another -o",
                      path_.string()));
    }
    if (there && !fs::exists(path_ / kManifest)) {
      throw std::invalid_argument(
          fmt::format("{} is not a run directory (it has no manifest.json); choose another -o", path_.string()));
    }
    there&& existing == Existing::resume ? resume() : create();
  });
}

void RunDirectory::resume() {
  lock();
  RunRecord found = read_run(path_);
  check_same(path_, found.manifest, record_.manifest);
  found.manifest = std::move(record_.manifest);
  record_ = std::move(found);
  if (!record_.dropped.empty()) lock_->truncate(static_cast<off_t>(record_.intact));
  for (const auto& [id, finished] : record_.finished) fs::remove(checkpoint_path(path_, id));
}

void RunDirectory::create() {
  std::error_code error;
  fs::create_directories(path_, error);
  if (error) throw std::invalid_argument(fmt::format("cannot create {}: {}", path_.string(), error.message()));
  if (access(path_.c_str(), W_OK) != 0)
    throw std::invalid_argument(fmt::format("cannot write into {}", path_.string()));
  lock();
  // Were the new manifest there before the old lines are gone, these might be taken for its own.
  fs::remove(path_ / kReport);
  fs::remove(path_ / kPage);
  for (const char* folder : {"models", "checkpoints"}) fs::remove_all(path_ / folder);
  lock_->truncate(0);
  lock_->flush();
  write_file(path_ / kManifest, pretty(to_json(record_.manifest)));
}

void RunDirectory::lock() {
  lock_ = std::make_unique<File>(path_ / kLines, O_RDWR | O_CREAT);
  if (!lock_->lock()) {
    throw std::invalid_argument(
        fmt::format("{} is in use by another posbench; wait for it, or choose another -o", path_.string()));
  }
}

void RunDirectory::append(const ExperimentResult& result, double seconds) {
  File file(path_ / kLines, O_WRONLY | O_APPEND);  // by its name, lest the folder is gone
  const off_t before = file.size();
  try {
    file.write(line(result, seconds));
    file.flush();
  } catch (const FileError&) {
    file.truncate(before);  // another experiment may be in time for some room
    throw;
  }
  record_.finished[result.id] = {result, seconds};
  std::error_code ignored;
  fs::remove(checkpoint_path(path_, result.id), ignored);
}

void RunDirectory::adopt(std::map<ExperimentId, Finished> finished) {
  std::string lines;
  for (const ExperimentId& id : record_.manifest.experiments)
    lines += line(finished.at(id).result, finished.at(id).seconds);
  write_file(path_ / kLines, lines);
  record_.finished = std::move(finished);
}

Report RunDirectory::write_report(const std::vector<TaskBaseline>& tasks, Json context) const {
  Report report{.context = std::move(context), .config = record_.manifest.config, .tasks = tasks};
  Json times = Json::array();
  double total = 0;
  for (const ExperimentId& id : record_.manifest.experiments) {
    const auto found = finished().find(id);
    if (found == finished().end()) continue;
    const auto& [result, seconds] = found->second;
    report.experiments.push_back(result);
    Json time = to_json(id);
    time["seconds"] = seconds;
    total += seconds;
    times.push_back(std::move(time));
  }
  report.timing = {{"core_seconds", total}, {"experiments", times}};
  write_file(path_ / kReport, pretty(posbench::to_json(report)));
  const NamedReport run{path_.string(), report};
  write_file(path_ / kPage, report_page({&run, 1}));
  return report;
}

}  // namespace posbench
