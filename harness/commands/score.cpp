// `posbench score`: a report of models that were trained elsewhere, from their answers.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "harness/commands/commands.h"
#include "harness/commands/outcome.h"
#include "harness/commands/output.h"
#include "harness/commands/terminal.h"
#include "harness/commands/waiting.h"
#include "harness/runs/answers.h"
#include "harness/runs/context.h"
#include "harness/runs/files.h"
#include "harness/runs/run_directory.h"
#include "results/presentation/report_table.h"
#include "results/reports/experiment_json.h"
#include "results/reports/report_json.h"

namespace posbench {
namespace {

struct ScoreRequest {
  std::vector<std::filesystem::path> answers;  // beside each its manifest; or a manifest of training that failed
  std::filesystem::path output;
  std::optional<std::string> name, description;  // of the model, where manifests do not say
  std::optional<std::int64_t> parameters;
  std::string color = "auto";
  std::vector<std::string> command;  // as it was typed
};

constexpr const char* kManifestEnding = ".manifest.json";
constexpr const char* kNoLoss = "no training loss was given with the answers";

/// A file of answers with its manifest, scored.
struct Scored {
  std::string file;
  SampleSet set;
  ExperimentResult experiment;  // with one split; with none where training diverged or failed
  bool configured = false;      // trained with the model and training settings of its configuration
  double seconds = 0;
};

/// What the manifest says of the model, and the command line where it does not.
void read_model(const Field& json, const ScoreRequest& request, Scored& scored) {
  constexpr std::int64_t kMax = std::int64_t{1} << 53;
  constexpr int kMaxSteps = 1'000'000'000;
  ExperimentResult& e = scored.experiment;
  e.id.encoding = request.name ? *request.name : json["name"].name();
  e.description = request.description       ? *request.description
                  : json.has("description") ? json["description"].text()
                                            : "";
  e.parameters = request.parameters       ? *request.parameters
                 : json.has("parameters") ? json["parameters"].integer(0, kMax)
                                          : 0;
  if (json.has("steps")) e.steps = static_cast<int>(json["steps"].integer(0, kMaxSteps));
  if (json.has("stopped_early")) e.stopped_early = json["stopped_early"].flag();
  if (json.has("learning_curve")) e.learning_curve = read_curve(json["learning_curve"]);
  if (json.has("final_loss") && !json["final_loss"].null())
    e.final_loss = json["final_loss"].number(-1e300, 1e300);
  if (json.has("status")) e.status = static_cast<Status>(json["status"].choice({"ok", "diverged", "failed"}));
  if (e.status == Status::diverged)
    e.diverged_step = static_cast<int>(json["diverged_step"].integer(0, kMaxSteps));
  if (json.has("reason")) e.reason = json["reason"].text();
  if (e.reason.empty() && e.status != Status::ok) json["status"].fail("and there is no 'reason' beside it");
  if (e.reason.empty() && !e.final_loss) e.reason = kNoLoss;
  if (json.has("trained_as_configured")) scored.configured = json["trained_as_configured"].flag();
  if (json.has("seconds")) scored.seconds = json["seconds"].number(0, 1e12);
}

Scored read_scored(const std::filesystem::path& path, const ScoreRequest& request) {
  const bool manifest_alone = path.string().ends_with(kManifestEnding);
  const std::filesystem::path beside = manifest_alone ? path : manifest_path(path);
  if (!std::filesystem::exists(path)) throw std::runtime_error(fmt::format("{} is not there", path.string()));
  if (!std::filesystem::exists(beside)) {
    throw std::runtime_error(fmt::format("{} is not there; copy the manifest of the samples that {} answers to it",
                                         beside.string(), path.string()));
  }
  const std::string name = beside.string();
  const Json json = read_json(beside);
  const Field root(json, name);
  Scored scored{.file = path.string(), .set = read_manifest(json, name)};
  static const Json kNothing = Json::object();
  if (root.has("model")) {
    read_model(root["model"], request, scored);
  } else if (request.name) {
    read_model(Field(kNothing, name), request, scored);
  } else {
    throw std::runtime_error(fmt::format("{}: model.name is missing; name the model there, or with --name", name));
  }
  ExperimentResult& e = scored.experiment;
  e.id.task = scored.set.task->spec;
  e.id.seed = scored.set.seed;
  e.task_version = scored.set.task->info->version;
  if ((e.status == Status::ok) == manifest_alone) {
    throw std::runtime_error(fmt::format("{}: {}", name,
                                         manifest_alone ? "expected answers, as its model.status is ok"
                                                        : "there are answers, but its model.status is not ok"));
  }
  if (manifest_alone) return scored;
  if (!scored.set.purpose.starts_with("test:")) {
    throw std::runtime_error(
        fmt::format("{}: purpose is {}; only answers to test samples are scored", name, scored.set.purpose));
  }
  SplitResult split = score(*read_answers(path), scored.set, scored.file);
  const TaskInfo::Split& info = scored.set.task->splits[scored.set.split];
  split.name = info.name;
  split.kind = kind(info);
  e.splits = {std::move(split)};
  return scored;
}

/// The configuration, without what differs from file to file.
Json common_config(const Scored& scored) {
  Json config = to_json(scored.set.config);
  for (const char* key : {"tasks", "encodings", "seeds"}) config.erase(key);
  return config;
}

/// All files of a task, a model and a seed as one experiment, with its splits in the order of the task.
ExperimentResult join(const std::vector<const Scored*>& files) {
  ExperimentResult joined = files.front()->experiment;
  const std::string who =
      fmt::format("'{}' on '{}' with seed {}", joined.id.encoding, joined.id.task, joined.id.seed);
  if (joined.status != Status::ok) {
    if (files.size() > 1)
      throw std::runtime_error(fmt::format("{}: {} did not finish training, yet {} is of it, too", files[0]->file,
                                           who, files[1]->file));
    return joined;
  }
  joined.splits.clear();
  for (const TaskInfo::Split& split : files.front()->set.task->splits) {
    const Scored* found = nullptr;
    for (const Scored* file : files) {
      if (file->experiment.splits.empty() || file->experiment.splits[0].name != split.name) continue;
      if (found) {
        throw std::runtime_error(fmt::format("{} and {} are both split '{}' of {}; score one of them", found->file,
                                             file->file, split.name, who));
      }
      found = file;
    }
    if (!found) {
      throw std::runtime_error(
          fmt::format("split '{}' of {} is missing; score the answers to all splits together", split.name, who));
    }
    joined.splits.push_back(found->experiment.splits[0]);
  }
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
      throw std::runtime_error(fmt::format(
          "{}: its samples were exported with other settings than those of {}: {}", file.file, first.file, other));
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
    if (std::find(tasks.begin(), tasks.end(), id.task) == tasks.end())
      report.tasks.push_back(measure_baselines(*file.set.task));
    add_once(tasks, id.task);
    add_once(encodings, id.encoding);
    add_once(seeds, id.seed);
    report.experiments.push_back(join(groups[id]));
    total += file.seconds;
    times.push_back({{"task", id.task}, {"encoding", id.encoding}, {"seed", id.seed}, {"seconds", file.seconds}});
  }
  report.config = config;
  if (!configured) {  // how it was trained is not known
    for (const char* key : {"profile", "model", "training", "extend", "overrides"}) report.config.erase(key);
    report.config["evaluation"]["sequences"] = first.set.count;
  }
  report.config["tasks"] = tasks;
  report.config["encodings"] = encodings;
  report.config["seeds"] = seeds;
  if (total > 0) report.timing = {{"core_seconds", total}, {"experiments", times}};
  return report;
}

/// Writes the report. Returns 0, or 1 where a manifest says that training diverged or failed. Throws
/// std::invalid_argument, before anything is written, where answers are missing, doubled, foreign or malformed.
int score(const ScoreRequest& request) {
  Json about = context(request.command);
  Report report = as_input([&] {
    Waiting waiting("scoring answers");
    std::vector<Scored> files;
    for (const std::filesystem::path& path : request.answers) {
      files.push_back(read_scored(path, request));
      waiting.count(files.size(), request.answers.size());
    }
    return make_report(files);
  });
  about["finished"] = timestamp();
  report.context = std::move(about);
  write_file(request.output, pretty(to_json(report)));
  const Summary summary = summarize(report);
  print(accuracy_table(summary), wants_color(request.color));
  for (const std::string& note : accuracy_notes(summary)) fmt::print("{}\n", wrapped(note, 0, console_width()));
  const Table unfinished = unfinished_table(report);
  if (!unfinished.rows.empty()) {
    fmt::print("\n");
    print(unfinished, wants_color(request.color));
  }
  fmt::print("\nreport: {}\n", request.output.string());
  return unfinished.rows.empty() ? 0 : 1;
}

}  // namespace

void add_score(CLI::App& app, Invocation& invocation) {
  const auto request = std::make_shared<ScoreRequest>();
  CLI::App* command =
      app.add_subcommand("score", "A report of a model that was trained elsewhere, from its answers");
  command
      ->add_option("answers", request->answers,
                   ".npz, .safetensors or .jsonl, each beside its FILE.manifest.json; all splits of a task")
      ->required();
  command->add_option("-o,--output", request->output, "the report to write")->required();
  command->add_option("--name", request->name, "the name of the model, if the manifests do not have one")
      ->default_str("none");
  command->add_option("--parameters", request->parameters, "the number of its parameters")
      ->default_str("what the manifests say")
      ->check(CLI::Range(0.0, 1e15));
  command->add_option("--description", request->description, "a description of the model, in your words")
      ->default_str("what the manifests say");
  add_color(*command, request->color);
  command->footer(
      "Answers are 'index' (N), the numbers of the samples, beside 'answers' (N, S), a token for each scored\n"
      "position, or 'logits' (N, S, vocabulary); docs/bridge.md has the formats to the byte.\n"
      "Examples:\n"
      "  posbench score answers/*.npz --name mine -o mine.json\n"
      "  posbench report runs/ours mine.json");
  request->command = invocation.words;
  command->callback([request, &invocation] { invocation.code = score(*request); });
}

}  // namespace posbench
