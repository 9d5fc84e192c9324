// `posbench export RUN TASK ENCODING`: the logits of a saved model, as a reference for models in other programs
// and as answers to score.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/signals.h"
#include "base/text.h"
#include "encodings/registry.h"
#include "harness/commands/export_forms.h"
#include "harness/config/user_files.h"
#include "harness/console/output.h"
#include "harness/console/progress.h"
#include "harness/exchange/array_file.h"
#include "harness/exchange/sample_set.h"
#include "harness/exchange/saved_model.h"
#include "harness/runs/run_record.h"
#include "harness/runs/suite.h"
#include "model/block.h"
#include "model/denormals.h"
#include "results/json/json.h"

namespace posbench {
namespace {

constexpr int kChunk = 64;  // samples that are prepared together, as in testing

/// Reads the configuration of a run directory, or a configuration file.
RunConfig read_config(const std::filesystem::path& path) {
  if (!std::filesystem::is_directory(path)) return make_config({.file = path});
  return read_user_files([&] {
    const std::filesystem::path file = path / kManifestFile;
    return config_from_json(read_run_manifest(file).config, file.string() + ": config");
  });
}

std::pair<SavedModel, RunConfig> make_initial(const ExportRequest& request) {
  RunConfig config = read_config(request.subject);
  const ExperimentId id = experiment_id(request.task, request.encoding, request.seed);
  SavedModel made;
  made.task = std::make_unique<TaskSetup>(setup_task(config, TaskSpec::parse(id.task)));
  made.experiment = {made.task.get(), Spec::parse(id.encoding), id.seed};
  made.model = make_model(made.experiment.encoding, made.task->model_config);
  made.parameters = TrainingState(made.model, made.task->options.training, id.seed).parameters;
  return {std::move(made), std::move(config)};
}

void check_extension(const std::filesystem::path& output) {
  if (is_array_file(output) || !output.has_extension() || is_special(output)) return;
  throw InputError(fmt::format("'{}' does not end in .safetensors, the format of the logits", output.string()));
}

/// Copies a matrix into the first rows and columns of a larger one.
void put_matrix(const Matrix& from, Index rows, Index cols, std::vector<float>& to, size_t at, Index stride) {
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < cols; ++j) to[at + static_cast<size_t>(i * stride + j)] = from(i, j);
  }
}

/// Stores scores and attention of all layers in the last loop, (layers, H, T, T) each. Later keys of causal models
/// are zero, and so are all values of a layer without attention.
struct Maps {
  std::vector<float> scores, attention;

  Maps(const SavedModel& saved, const PreparedSample& drawn, const StepCache& tables,
       SequenceWorkspace& activations, size_t longest) {
    const ModelConfig& config = saved.model.config;
    const size_t map = longest * longest, H = static_cast<size_t>(config.heads);
    scores.resize(static_cast<size_t>(config.layers) * H * map);
    attention = scores;
    const Index T = static_cast<Index>(drawn.sequence.tokens.size());
    for (int layer = 0; layer < config.layers; ++layer) {
      for (AttentionMap& map_of_layer :
           saved.model.transformer->inspect(saved.parameters, drawn.sequence, tables.tables, layer, activations)) {
        const bool is_score = map_of_layer.kind == AttentionMap::Kind::score;
        if (!is_score && map_of_layer.kind != AttentionMap::Kind::attention) continue;
        std::vector<float>& to = is_score ? scores : attention;
        for (size_t h = 0; h < H; ++h) {
          Matrix& values = map_of_layer.values[h];
          for (Index i = 0; config.causal && i < T; ++i) values.row(i).tail(T - 1 - i).setZero();
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

/// Returns a saved model and the configuration of its run.
std::pair<SavedModel, RunConfig> find_saved(const ExportRequest& request) {
  const std::filesystem::path path = request.subject;
  if (lower_case(path.extension().string()) != ".safetensors") {
    RunConfig config = read_config(path);
    return {load_model(find_model(path, request.task, request.encoding, request.seed)), std::move(config)};
  }
  SavedModel saved = load_model(path);
  const ExperimentId id = saved.experiment.id(),
                     requested = experiment_id(request.task, request.encoding, request.seed);
  if (id != requested) {
    throw InputError(fmt::format(
        "{}: the model is of '{}' on '{}' with seed {}, expected '{}' on '{}' with seed {}; name the model's own",
        request.subject, id.encoding, id.task, id.seed, requested.encoding, requested.task, requested.seed));
  }
  RunConfig config = config_of(saved.experiment);
  return {std::move(saved), std::move(config)};
}

/// `about` becomes the manifest.
void write_logits(const ExportRequest& request, const SampleSet& set, const SavedModel& saved, const Json& about) {
  const Progress status("computing logits");
  const SampleStream samples = set.stream();
  const ModelConfig& model_config = saved.model.config;
  size_t longest = 0, most_scored = 0;
  for (std::uint64_t n = 0; n < set.count; ++n) {
    check_interrupted();
    const Example e = samples(set.first + n).example;
    longest = std::max(longest, e.tokens.size());
    most_scored = std::max(most_scored, e.scored.size());
  }
  const auto N = static_cast<std::int64_t>(set.count), T = static_cast<std::int64_t>(longest);
  const size_t V = static_cast<size_t>(model_config.vocabulary);
  enum : size_t { kIndex, kLogits, kScores, kAttention };
  std::vector<ArrayInfo> arrays{
      {"index", Scalar::int64, {N}},
      {"logits", Scalar::float32, {N, static_cast<std::int64_t>(most_scored), model_config.vocabulary}}};
  if (request.maps) {
    for (const char* name : {"scores", "attention"})
      arrays.push_back({name, Scalar::float32, {N, model_config.layers, model_config.heads, T, T}});
  }
  ArrayWriter file(*request.output, arrays, {{"manifest", to_compact_json(about)}});

  const FlushDenormals flush;
  StepCache tables;
  SequenceWorkspace activations;
  for (std::uint64_t first = 0; first < set.count; first += kChunk) {
    const int count = static_cast<int>(std::min<std::uint64_t>(kChunk, set.count - first));
    std::vector<std::vector<float>> logits(static_cast<size_t>(count));
    std::vector<Maps> maps;
    std::vector<size_t> map_of(static_cast<size_t>(count));
    for (const PreparedSample& drawn :
         draw_batch(samples, *saved.model.encoding, false, set.first + first, count)) {
      check_interrupted();
      saved.model.transformer->prepare(saved.parameters, drawn.sequence, tables, nullptr);
      saved.model.transformer->forward(saved.parameters, drawn.sequence, tables, nullptr, activations);
      const size_t row = drawn.index - set.first - first;
      logits[row].resize(most_scored * V);
      put_matrix(activations.logits, activations.logits.rows(), activations.logits.cols(), logits[row], 0,
                 model_config.vocabulary);
      if (!request.maps) continue;
      map_of[row] = maps.size();
      maps.emplace_back(saved, drawn, tables, activations, longest);
    }
    for (size_t row = 0; row < logits.size(); ++row) {
      file.append(kIndex, std::vector<std::int64_t>{static_cast<std::int64_t>(set.first + first + row)});
      file.append(kLogits, logits[row]);
      if (!request.maps) continue;
      file.append(kScores, maps[map_of[row]].scores);
      file.append(kAttention, maps[map_of[row]].attention);
    }
  }
  file.finish();
}

}  // namespace

int export_logits(const ExportRequest& request) {
  if (!request.output && !request.model_output)
    throw InputError("no output file is given; add -o FILE for the logits, or --model-output FILE for the model");
  if (request.output) check_extension(*request.output);
  if (request.model_output && lower_case(request.model_output->extension().string()) != ".safetensors") {
    throw InputError(fmt::format("--model-output is '{}', expected the extension .safetensors",
                                 request.model_output->string()));
  }
  for (const std::optional<std::filesystem::path>& file : {request.output, request.model_output})
    if (file) check_output_place(*file);
  std::optional<std::filesystem::path> about_file;
  if (request.output && !is_special(*request.output)) about_file = default_manifest(*request.output);
  std::pair<SavedModel, RunConfig> model =
      request.initial ? make_initial(request) : read_user_files([&] { return find_saved(request); });
  const SavedModel& saved = model.first;
  model.second.evaluation.cache = {};  // logits are those of the whole sequence
  const std::string split = request.split.value_or(kInDistribution);
  const SampleSet set =
      make_sample_set(model.second, saved.task->spec, split.starts_with("grid:") ? split : "test:" + split,
                      request.seed, request.first, request.count.value_or(512));
  if (request.maps) require_attention(saved.model.config);
  if (request.output) {
    Json about = manifest(set);
    about["model"] = model_json(saved, request.initial);
    if (!write_interruptibly(request.output, [&] { write_logits(request, set, saved, about); })) return 130;
    if (about_file) write_file(*about_file, to_file_json(about));
  }
  if (request.model_output) save_model(*request.model_output, saved.experiment, saved.model, saved.parameters);
  return 0;
}

}  // namespace posbench
