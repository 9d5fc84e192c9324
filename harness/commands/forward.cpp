// `posbench forward`: what a model of ours computes on given samples, for others to check theirs against, and as
// answers to score.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "encodings/registry.h"
#include "harness/commands/commands.h"
#include "harness/commands/help.h"
#include "harness/commands/waiting.h"
#include "harness/commands/output.h"
#include "harness/runs/array_file.h"
#include "harness/runs/files.h"
#include "harness/runs/sample_set.h"
#include "harness/runs/saved_model.h"
#include "harness/runs/suite.h"
#include "model/denormals.h"

namespace posbench {
namespace {

struct ForwardRequest {
  std::filesystem::path run;  // a run directory or a saved model; with `initial` a run directory or a configuration
  std::string task, encoding;
  std::uint64_t seed = 0;
  bool initial = false;  // the model before training, else the saved one
  std::string split = "in_distribution";
  std::uint64_t first = 0, count = 512;
  std::optional<ArrayFormat> format;
  std::optional<std::filesystem::path> output;        // logits
  bool attention = false;                             // scores and attention besides
  std::optional<std::filesystem::path> model_output;  // the model itself, as .safetensors
};

constexpr int kChunk = 64;  // samples that share their tables, as in testing

/// The configuration of a run directory, or a file.
Config read_config(const std::filesystem::path& path) {
  if (!std::filesystem::is_directory(path)) return make_config({.file = path});
  return as_input([&] {
    const std::filesystem::path file = path / "manifest.json";
    const std::string name = file.string(), place = name + ": config";
    const Json json = read_json(file);
    const Field root(json, name);
    return config_from_json(root["config"].object(), place);
  });
}

std::pair<SavedModel, Config> make_initial(const ForwardRequest& request) {
  Config config = read_config(request.run);
  const ExperimentId id = experiment_id(request.task, request.encoding, request.seed);
  SavedModel made;
  made.task = std::make_unique<TaskSetup>(setup_task(config, id.task));
  made.experiment = {made.task.get(), Spec::parse(id.encoding), id.seed};
  made.model = make_model(made.experiment.encoding, made.task->shape);
  made.parameters = TrainingState(made.model, made.task->options.training, id.seed).parameters;
  return {std::move(made), std::move(config)};
}

ArrayFormat format_of(const ForwardRequest& request) {
  if (request.format) return *request.format;
  const std::string ending = request.output->extension().string();
  if (ending == ".npz") return ArrayFormat::npz;
  if (ending == ".safetensors") return ArrayFormat::safetensors;
  throw std::invalid_argument(
      fmt::format("{}: its ending names no format; add --format npz or safetensors", request.output->string()));
}

/// Numbers of one sample in the leading corner of a larger block of zeros.
void put_matrix(const Matrix& from, Index rows, Index cols, std::vector<float>& to, size_t at, Index stride) {
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < cols; ++j) to[at + static_cast<size_t>(i * stride + j)] = from(i, j);
  }
}

/// Scores and attention of all layers, (layers, H, T, T) each; zero for keys that a query does not see.
struct Maps {
  std::vector<float> scores, attention;

  Maps(const SavedModel& saved, const Drawn& drawn, const StepTables& tables, Activations& activations,
       size_t longest) {
    const ModelShape& shape = saved.model.shape;
    const size_t map = longest * longest, H = static_cast<size_t>(shape.heads);
    scores.resize(static_cast<size_t>(shape.layers) * H * map);
    attention = scores;
    const Index T = static_cast<Index>(drawn.sequence.tokens.size());
    for (int layer = 0; layer < shape.layers; ++layer) {
      for (AttentionMap& map_of_layer :
           saved.model.transformer->inspect(saved.parameters, drawn.sequence, tables.tables, layer, activations)) {
        if (map_of_layer.name != "score" && map_of_layer.name != "attention") continue;
        std::vector<float>& to = map_of_layer.name == "score" ? scores : attention;
        for (size_t h = 0; h < H; ++h) {
          Matrix& values = map_of_layer.values[h];
          for (Index i = 0; shape.causal && i < T; ++i) values.row(i).tail(T - 1 - i).setZero();
          put_matrix(values, T, T, to, (static_cast<size_t>(layer) * H + h) * map, static_cast<Index>(longest));
        }
      }
    }
  }
};

Json model_json(const SavedModel& saved, bool initial) {
  const ExperimentId id = saved.experiment.id();
  return {{"name", id.encoding},
          {"parameters", saved.model.layout.count()},
          {"description", initial ? "the initial model of posbench" : "a saved model of posbench"},
          {"trained_as_configured", !initial}};
}

/// The model that training left, and the configuration that it was trained under.
std::pair<SavedModel, Config> find_saved(const ForwardRequest& request) {
  if (request.run.extension() != ".safetensors") {
    Config config = read_config(request.run);
    return {load_model(find_model(request.run, request.task, request.encoding, request.seed)), std::move(config)};
  }
  SavedModel saved = load_model(request.run);
  const ExperimentId id = saved.experiment.id(), requested = experiment_id(request.task, request.encoding, request.seed);
  if (id != requested) {
    throw std::runtime_error(fmt::format("{} is a model of '{}' on '{}' with seed {}, not of '{}' on '{}' with seed {}",
                                         request.run.string(), id.encoding, id.task, id.seed, requested.encoding,
                                         requested.task, requested.seed));
  }
  Config config = config_of(saved.experiment);
  return {std::move(saved), std::move(config)};
}

void write_logits(const ForwardRequest& request, const Config& config, const SavedModel& saved) {
  const SampleSet set = make_sample_set(config, saved.task->spec, "test:" + request.split, request.seed,
                                        request.first, request.count);
  SampleStream samples = set.stream();
  samples.loops = saved.task->options.evaluation.loops;
  const ModelShape& shape = saved.model.shape;
  size_t longest = 0, most_scored = 0;
  for (std::uint64_t n = 0; n < set.count; ++n) {
    const Example e = samples(set.first + n).example;
    longest = std::max(longest, e.tokens.size());
    most_scored = std::max(most_scored, e.scored.size());
  }
  const auto N = static_cast<std::int64_t>(set.count), T = static_cast<std::int64_t>(longest);
  const size_t V = static_cast<size_t>(shape.vocabulary);
  enum : size_t { kIndex, kLogits, kScores, kAttention };
  std::vector<ArrayInfo> arrays{
      {"index", Scalar::int64, {N}},
      {"logits", Scalar::float32, {N, static_cast<std::int64_t>(most_scored), shape.vocabulary}}};
  if (request.attention) {
    for (const char* name : {"scores", "attention"})
      arrays.push_back({name, Scalar::float32, {N, shape.layers, shape.heads, T, T}});
  }
  Json about = manifest(set);
  about["model"] = model_json(saved, request.initial);
  ArrayWriter file(*request.output, format_of(request), arrays, {{"manifest", compact(about)}});

  const FlushDenormals flush;
  StepTables tables;
  Activations activations;
  for (std::uint64_t first = 0; first < set.count; first += kChunk) {
    const int count = static_cast<int>(std::min<std::uint64_t>(kChunk, set.count - first));
    std::vector<std::vector<float>> logits(static_cast<size_t>(count));
    std::vector<Maps> maps;
    std::vector<size_t> map_of(static_cast<size_t>(count));
    for (const Drawn& drawn : draw(samples, *saved.model.encoding, false, set.first + first, count)) {
      saved.model.transformer->prepare(saved.parameters, drawn.sequence, tables, nullptr);
      saved.model.transformer->forward(saved.parameters, drawn.sequence, tables, nullptr, activations);
      const size_t row = drawn.index - set.first - first;
      logits[row].resize(most_scored * V);
      put_matrix(activations.logits, activations.logits.rows(), activations.logits.cols(), logits[row], 0,
                 shape.vocabulary);
      if (!request.attention) continue;
      map_of[row] = maps.size();
      maps.emplace_back(saved, drawn, tables, activations, longest);
    }
    for (size_t row = 0; row < logits.size(); ++row) {
      file.append(kIndex, std::vector<std::int64_t>{static_cast<std::int64_t>(set.first + first + row)});
      file.append(kLogits, logits[row]);
      if (!request.attention) continue;
      file.append(kScores, maps[map_of[row]].scores);
      file.append(kAttention, maps[map_of[row]].attention);
    }
  }
  file.finish();
  write_file(manifest_path(*request.output), pretty(about));
}

/// Throws std::invalid_argument for bad input, before anything is written.
void forward(const ForwardRequest& request) {
  if (!request.output && !request.model_output)
    throw std::invalid_argument(
        "nowhere to write to; add -o FILE for logits, or --model-output FILE for the model");
  if (request.output) format_of(request);
  const auto [saved, config] = request.initial ? make_initial(request) : as_input([&] { return find_saved(request); });
  find_split(*saved.task, request.split);
  if (request.model_output) save_model(*request.model_output, saved.experiment, saved.model, saved.parameters);
  const Waiting waiting("computing logits");
  if (request.output) write_logits(request, config, saved);
}

}  // namespace

void add_forward(CLI::App& app, Invocation&) {
  const auto request = std::make_shared<ForwardRequest>();
  CLI::App* command =
      app.add_subcommand("forward", "Logits of a saved model on given samples, as answers to score");
  command
      ->add_option("run", request->run,
                   "a run directory of 'posbench run --save-models', or a saved model; with --initial a configuration, too")
      ->required();
  command->add_option("task", request->task, "a task of the run, with options as there")->required();
  command->add_option("encoding", request->encoding, "an encoding of the run, with options as there")->required();
  command->add_option("-s,--seed", request->seed, "the seed of the experiment");
  command->add_flag("--initial", request->initial, "the model before training");
  command->add_option("--split", request->split, "the split whose samples are read");
  command->add_option("--first", request->first, "number of the first sample")
      ->check(CLI::Range(0.0, 1e12));
  command->add_option("-n,--count", request->count, "how many samples")
      ->check(CLI::Range(1.0, 1e12));
  add_choice<std::optional<ArrayFormat>, ArrayFormat>(
      *command, "--format", request->format, {{"npz", ArrayFormat::npz}, {"safetensors", ArrayFormat::safetensors}}, "")
      ->default_str("as the file ends");
  command->add_option("-o,--output", request->output, "a file for the logits at the scored positions")->default_str("none");
  command->add_flag("--attention", request->attention,
                    "also write the scores and the attention weights of every layer and head");
  command->add_option("--model-output", request->model_output, "a .safetensors file for the model itself")->default_str("none");
  command->footer(
      "Examples:\n"
      "  posbench forward runs/mine flip_flop cope --split ood_sparse -n 64 --attention -o cope.npz\n"
      "  posbench forward runs/mine flip_flop cope --initial --model-output initial.safetensors");
  command->callback([request] { forward(*request); });
}

}  // namespace posbench
