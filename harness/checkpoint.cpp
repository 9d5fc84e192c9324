#include "harness/checkpoint.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "harness/context.h"
#include "harness/files.h"
#include "harness/safetensors.h"
#include "harness/saved_model.h"

namespace posbench {
namespace {

/// What a checkpoint must share with the training that goes on from it.
std::map<std::string, std::string> origin(const Experiment& e) {
  return {{"format", "posbench checkpoint 1"},
          {"version", version()},
          {"task", e.task->spec},
          {"encoding", e.encoding.text()},
          {"seed", fmt::format("{}", e.seed)},
          {"config", compact(to_json(e.task->config))}};
}

constexpr const char* kState = "state";  // the metadata that is no matrix and no origin

Json write_state(const TrainingState& state, double seconds) {
  const AdamW::State& optimizer = state.optimizer.state;
  return {{"step", state.step},
          {"loss_sum", state.loss_sum},
          {"loss_count", state.loss_count},
          {"perfect", state.perfect},
          {"stopped_early", state.stopped_early},
          {"beta1_power", optimizer.beta1_power},
          {"beta2_power", optimizer.beta2_power},
          {"learning_curve", write_list(state.curve, [](const CurvePoint& point) { return to_json(point); })},
          {"seconds", seconds}};
}

double read_state(const Field& json, const TrainingOptions& options, TrainingState& state) {
  constexpr double kMost = std::numeric_limits<double>::max();
  state.step = static_cast<int>(json["step"].integer(1, options.steps));
  state.loss_sum = json["loss_sum"].number(-kMost, kMost);
  state.loss_count = static_cast<int>(json["loss_count"].integer(0, state.step));
  state.perfect = static_cast<int>(json["perfect"].integer(0, state.step));
  state.stopped_early = json["stopped_early"].flag();
  state.optimizer.state.beta1_power = json["beta1_power"].number(0, 1);
  state.optimizer.state.beta2_power = json["beta2_power"].number(0, 1);
  state.curve = read_curve(json["learning_curve"]);
  return json["seconds"].number(0, kMost);
}

}  // namespace

std::filesystem::path checkpoint_path(const std::filesystem::path& run, const ExperimentId& id) {
  return run / "checkpoints" / (file_stem(id) + ".safetensors");
}

void write_checkpoint(const std::filesystem::path& path, const Experiment& e, const Model& model,
                      const TrainingState& state, double seconds) {
  SafeTensors file{.metadata = origin(e), .tensors = {}};
  file.metadata[kState] = compact(write_state(state, seconds));
  add_parameters(model.layout, state.parameters, "", file);
  add_parameters(model.layout, state.optimizer.state.mean, "adamw.mean.", file);
  add_parameters(model.layout, state.optimizer.state.square, "adamw.square.", file);
  write_file(path, to_bytes(file));
}

double read_checkpoint(const std::filesystem::path& path, const Experiment& e, const Model& model,
                       TrainingState& state) {
  const std::string name = path.string();
  const SafeTensors file = parse_safetensors(read_file(path), name);
  const auto text = [&](const std::string& key) {
    const auto found = file.metadata.find(key);
    return found == file.metadata.end() ? "" : found->second;
  };
  for (const auto& [key, expected] : origin(e)) {
    if (text(key) != expected) {
      fail(name, "__metadata__." + key, text(key), fmt::format("expected {}", shown(Json(expected))));
    }
  }
  const std::string place = name + ": __metadata__.state";
  const Json json = parse_json(text(kState), place);
  TrainingState read = state;
  const double seconds = read_state(Field(json, place), e.task->config.training, read);
  read.parameters = read_parameters(model.layout, file, "", name);
  read.optimizer.state.mean = read_parameters(model.layout, file, "adamw.mean.", name);
  read.optimizer.state.square = read_parameters(model.layout, file, "adamw.square.", name);
  state = std::move(read);
  return seconds;
}

}  // namespace posbench
