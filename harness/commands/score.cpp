// `posbench score`: a report on models that were trained elsewhere, from their answers.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/name.h"
#include "harness/commands/commands.h"
#include "harness/config/user_files.h"
#include "harness/console/output.h"
#include "harness/console/progress.h"
#include "harness/exchange/answers.h"
#include "harness/runs/provenance.h"
#include "harness/runs/run_directory.h"
#include "harness/training/baselines.h"
#include "results/reports/experiment_json.h"
#include "results/reports/report_json.h"

namespace posbench {
namespace {

struct ScoreRequest {
  std::vector<std::filesystem::path> answers;  // each has a manifest; or the manifest of a training that failed
  std::filesystem::path output;
  std::optional<std::string> name;   // of the model; empty: that of the manifests
  std::vector<std::string> command;  // the whole command line
};

constexpr const char* kManifestEnding = ".manifest.json";
constexpr const char* kNoLoss = "no training loss was given with the answers";

/// The scores of a file of answers.
struct Scored {
  std::string file;
  SampleSet set;
  ExperimentResult experiment;  // with one split, or one point of a grid; with none if training diverged or failed
  std::map<std::string, std::string> grid_end;  // why the model does not answer larger multiples, by option
  bool configured = false;  // trained with the model and training settings of its configuration
  double seconds = 0;
  std::string trained_with;  // "PyTorch 2.5.1"
};

/// Returns the baselines of the task. If the training is not that of the configuration, its samples are unknown.
TaskBaseline baselines(const Scored& file) {
  TaskBaseline baseline = measure_baselines(*file.set.task);
  if (file.configured) return baseline;
  baseline.training_samples.reset();
  for (SplitBaseline& split : baseline.splits) split.seen_in_training.reset();
  return baseline;
}

/// Reads the description of the model from the manifest, and its name unless --name is given.
void read_model(const Field& json, const ScoreRequest& request, Scored& scored) {
  constexpr std::int64_t kMax = std::int64_t{1} << 53;
  constexpr int kMaxSteps = 1'000'000'000;
  ExperimentResult& e = scored.experiment;
  e.id.encoding = request.name ? *request.name : json["name"].name();
  e.description = json.has("description") ? json["description"].text() : "";
  e.parameters = json.has("parameters") ? json["parameters"].integer(0, kMax) : 0;
  if (json.has("steps")) e.steps = static_cast<int>(json["steps"].integer(0, kMaxSteps));
  if (json.has("stopped_early")) e.stopped_early = json["stopped_early"].flag();
  if (json.has("learning_curve")) e.learning_curve = read_curve(json["learning_curve"]);
  if (json.has("final_loss") && !json["final_loss"].null())
    e.final_loss = json["final_loss"].number(-1e300, 1e300);
  if (json.has("status")) e.status = json["status"].enumerator<Status>();
  if (e.status == Status::diverged)
    e.diverged_step = static_cast<int>(json["diverged_step"].integer(0, kMaxSteps));
  if (json.has("reason")) e.reason = json["reason"].text();
  if (e.reason.empty() && e.status != Status::ok) json["status"].fail("and 'reason' is missing; state it");
  if (e.reason.empty() && !e.final_loss) e.reason = kNoLoss;
  if (json.has("trained_as_configured")) scored.configured = json["trained_as_configured"].flag();
  if (json.has("grid_end")) {
    const Field ends = json["grid_end"];
    for (const auto& [option, reason] : ends.object().items()) {
      const Field value = ends[option.c_str()];
      scored.grid_end[option] = value.text();
    }
  }
  if (json.has("seconds")) scored.seconds = json["seconds"].number(0, 1e12);
  if (json.has("trained_with")) scored.trained_with = json["trained_with"].text();
}

Scored read_scored(const std::filesystem::path& path, const ScoreRequest& request) {
  const bool manifest_alone = path.string().ends_with(kManifestEnding);
  const std::filesystem::path manifest = manifest_alone ? path : manifest_path(path);
  if (!std::filesystem::exists(path))
    throw InputError(fmt::format("there is no file '{}'; name a file of answers", path.string()));
  if (std::filesystem::is_directory(path))
    throw InputError(fmt::format("{} is a folder, expected a .safetensors or .jsonl file", path.string()));
  if (!std::filesystem::exists(manifest)) {
    throw InputError(fmt::format("'{}' has no manifest; copy the manifest of its samples to '{}'", path.string(),
                                 manifest.string()));
  }
  const std::string name = manifest.string();
  const Json json = read_json(manifest);
  const Field root(json, name);
  Scored scored{.file = path.string(), .set = read_manifest(json, name)};
  static const Json kNothing = Json::object();
  if (root.has("model")) {
    read_model(root["model"], request, scored);
  } else if (request.name) {
    read_model(Field(kNothing, name), request, scored);
  } else {
    throw InputError(fmt::format("{}: model.name is missing; add it, or use --name", name));
  }
  ExperimentResult& e = scored.experiment;
  if (!request.name) check_name(e.id.encoding, name + ": model.name");
  e.id.task = scored.set.task->spec;
  e.id.seed = scored.set.id.seed;
  e.task_version = scored.set.task->info->version;
  if ((e.status == Status::ok) == manifest_alone) {
    throw InputError(fmt::format("{}: {}", name,
                                 manifest_alone
                                     ? "model.status is ok, expected the file of the answers"
                                     : "model.status is not ok, expected the manifest without answers"));
  }
  if (manifest_alone) return scored;
  if (scored.set.id.purpose != Purpose::test) {
    throw InputError(
        fmt::format("{}: purpose is '{}', expected answers to test samples", name, scored.set.id.text()));
  }
  SplitResult split = score(*read_answers(path), scored.set, scored.file);
  if (const TaskGrid::Point* point = scored.set.point) {
    e.grids = {{.option = scored.set.grid->option,
                .points = {{point->multiple, point->value, split.sequences, split.token, split.sequence}}}};
    return scored;
  }
  const TaskInfo::Split& info = scored.set.task->splits[scored.set.split];
  split.name = info.name;
  split.kind = kind(info);
  e.splits = {std::move(split)};
  return scored;
}

/// Returns the configuration without tasks, encodings and seeds, which differ between files.
Json common_config(const Scored& scored) {
  Json config = to_json(scored.set.config);
  for (const char* key : {"tasks", "encodings", "seeds"}) config.erase(key);
  return config;
}

/// Joins the files of a task, a model and a seed into one experiment with its splits in the order of the task.
ExperimentResult join(const std::vector<const Scored*>& files) {
  ExperimentResult joined = files.front()->experiment;
  const std::string who =
      fmt::format("'{}' on '{}' with seed {}", joined.id.encoding, joined.id.task, joined.id.seed);
  const auto failed =
      std::ranges::find_if(files, [](const Scored* file) { return file->experiment.status != Status::ok; });
  if (failed != files.end()) {
    if (files.size() > 1)
      throw InputError(fmt::format("{}: {} did not finish training, so this is its only file; remove it or '{}'",
                                   (*failed)->file, who, files[failed == files.begin() ? 1 : 0]->file));
    return joined;
  }
  joined.splits.clear();
  for (const TaskInfo::Split& split : files.front()->set.task->splits) {
    const Scored* found = nullptr;
    for (const Scored* file : files) {
      if (file->experiment.splits.empty() || file->experiment.splits[0].name != split.name) continue;
      if (found) {
        throw InputError(fmt::format("'{}' and '{}' are both split '{}' of {}; score one of them", found->file,
                                     file->file, split.name, who));
      }
      found = file;
    }
    if (!found) {
      throw InputError(
          fmt::format("split '{}' of {} is missing; score the answers to all splits together", split.name, who));
    }
    joined.splits.push_back(found->experiment.splits[0]);
  }
  AnsweredGrids answered;
  for (const Scored* file : files) {
    if (file->set.point) answered.add(*file->set.grid, file->experiment.grids.at(0).points.at(0));
    answered.ends.insert(file->grid_end.begin(), file->grid_end.end());
  }
  joined.grids = answered.join(*files.front()->set.task, who);
  return joined;
}

template <class T>
void add_once(std::vector<T>& list, const T& item) {
  if (std::find(list.begin(), list.end(), item) == list.end()) list.push_back(item);
}

Report make_report(const std::vector<Scored>& files) {
  Report report;
  const Scored& first = files.front();
  const Json config = common_config(first);
  std::vector<ExperimentId> ids;
  std::map<ExperimentId, std::vector<const Scored*>> groups;
  bool configured = true;
  for (const Scored& file : files) {
    if (const std::string other = difference(config, common_config(file)); !other.empty()) {
      throw InputError(fmt::format("{}: its samples and those of '{}' were exported with different settings: {}",
                                   file.file, first.file, other));
    }
    add_once(ids, file.experiment.id);
    groups[file.experiment.id].push_back(&file);
    configured = configured && file.configured;
  }
  std::vector<std::string> tasks, encodings;
  std::vector<std::uint64_t> seeds;
  Json times = Json::array();
  double total = 0;
  for (const ExperimentId& id : ids) {
    const Scored& file = *groups[id].front();
    if (std::find(tasks.begin(), tasks.end(), id.task) == tasks.end()) report.tasks.push_back(baselines(file));
    add_once(tasks, id.task);
    add_once(encodings, id.encoding);
    add_once(seeds, id.seed);
    report.experiments.push_back(join(groups[id]));
    total += file.seconds;
    times.push_back({{"task", id.task}, {"encoding", id.encoding}, {"seed", id.seed}, {"seconds", file.seconds}});
  }
  report.config = config;
  if (!configured) {  // the training is unknown
    for (const char* key : {"profile", "model", "training", "extend", "overrides"}) report.config.erase(key);
    const auto is_answered = [](const Scored& file) { return !file.experiment.splits.empty(); };
    const auto answered = std::ranges::find_if(files, is_answered);
    report.config["evaluation"]["sequences"] = (answered == files.end() ? first : *answered).set.count;
  }
  report.config["tasks"] = tasks;
  report.config["encodings"] = encodings;
  report.config["seeds"] = seeds;
  if (total > 0) report.timing = {{"core_seconds", total}, {"experiments", times}};
  return report;
}

/// Writes the report. Returns 1 if the training of a model diverged or failed, otherwise 0. Throws InputError,
/// before anything is written, if answers are missing, duplicate, invalid or of different settings.
int score(const ScoreRequest& request) {
  check_output_place(request.output);
  if (const std::string ending = request.output.extension(); !ending.empty() && ending != ".json")
    throw InputError(fmt::format("'{}' does not end in .json, the format of reports", request.output.string()));
  if (request.name) check_name(*request.name, "--name");
  Json about = provenance(request.command);
  Report report = read_user_files([&] {
    Progress status("scoring answers");
    std::vector<Scored> files;
    for (const std::filesystem::path& path : request.answers) {
      files.push_back(read_scored(path, request));
      status.set_progress(files.size(), request.answers.size());
    }
    about[kTrainedElsewhere] = files.front().trained_with.empty() ? Json(true) : Json(files.front().trained_with);
    return make_report(files);
  });
  about["finished"] = timestamp();
  report.context = std::move(about);
  write_file(request.output, to_file_json(to_json(report)));
  const int code = print_accuracies({std::move(report)});
  print_text("\nreport: {}\n", request.output.string());
  return code;
}

}  // namespace

void add_score(CommandLine& line) {
  const auto request = std::make_shared<ScoreRequest>();
  Command& command =
      line.add(kExchange, "score", "Write the report of a model that was trained elsewhere, from its answers");
  command
      .file("answers", request->answers,
            ".safetensors or .jsonl files for all splits of a task, each with its FILE.manifest.json")
      .required();
  command.file("-o,--output", request->output, "report to write").required().output();
  command.text("--name", request->name, "name of the model").default_text("that in the manifests");
  command.explain(
      {{"posbench score answers/*.safetensors --name mine -o mine.json", "the answers to every split"},
       {"posbench report runs/ours mine.json", "the report next to that of a run"}},
      {"A file of answers has 'index' (N), the numbers of the samples, and 'answers' (N, S), a token for each scored "
       "position, or 'logits' (N, S, vocabulary). docs/bridge.md specifies the formats."});
  command.run([request, &line] {
    request->command = line.arguments;
    return score(*request);
  });
}

}  // namespace posbench
