#include "harness/runs/checkpoint.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "harness/exchange/safetensors.h"
#include "harness/exchange/saved_model.h"
#include "harness/runs/loss_trace.h"
#include "harness/runs/provenance.h"
#include "harness/runs/suite.h"
#include "results/reports/experiment_json.h"

namespace posbench {
namespace {

/// Returns the metadata that must be equal in a checkpoint and in the training that continues from it.
std::map<std::string, std::string> origin(const Experiment& e) {
  ExperimentOptions options = e.task->options;
  options.training = e.training();
  return {{"format", "posbench checkpoint 1"},
          {"version", version()},
          {"task", e.task->spec},
          {"encoding", e.encoding_text},
          {"seed", fmt::format("{}", e.seed)},
          {"config", to_compact_json(to_json(options))}};
}

constexpr const char* kState = "state";  // the metadata entry of everything except matrices and origin
constexpr double kMaxDouble = std::numeric_limits<double>::max();

/// Returns the prefix of the names of an optimizer's tensors.
std::string optimizer_prefix(const std::string& name) { return "optimizer." + name + "."; }

Json write_state(const TrainingState& state) {
  Json optimizer = Json::object();
  for (const auto& [name, value] : state.optimizer.scalars) optimizer[name] = value;
  return {{"step", state.step},
          {"end", state.end},
          {"loss_sum", state.loss_sum},
          {"loss_count", state.loss_count},
          {"perfect", state.perfect_validations},
          {"stopped_early", state.stopped_early},
          {"optimizer", optimizer},
          {"learning_curve", write_list(state.curve, [](const CurvePoint& point) { return to_json(point); })}};
}

void read_state(const Field& json, const TrainingOptions& options, TrainingState& state) {
  state.end = static_cast<int>(json["end"].integer(options.steps, options.most_steps()));
  state.step = static_cast<int>(json["step"].integer(0, state.end));
  state.loss_sum = json["loss_sum"].number(-kMaxDouble, kMaxDouble);
  state.loss_count = static_cast<int>(json["loss_count"].integer(0, state.step));
  state.perfect_validations = static_cast<int>(json["perfect"].integer(0, state.step));
  state.stopped_early = json["stopped_early"].flag();
  const Field optimizer = json["optimizer"];
  for (auto& [name, value] : state.optimizer.scalars)
    value = optimizer[name.c_str()].number(-kMaxDouble, kMaxDouble);
  state.curve = read_curve(json["learning_curve"]);
  if (json.has("diverged_step"))
    state.diverged_step = static_cast<int>(json["diverged_step"].integer(0, state.end));
  const bool validated = state.step == state.end || state.stopped_early;
  if (validated && state.curve.empty()) json["learning_curve"].fail("expected the validations up to its end");
}

/// Writes the result of the best learning rate so far. Its parameters are stored as matrices. Its optimizer is not
/// needed.
Json write_best(const TrainingState& best) {
  Json json = write_state(best);
  json["learning_rate"] = best.learning_rate;
  if (best.diverged_step) json["diverged_step"] = *best.diverged_step;
  return json;
}

TrainingState read_best(const Field& json, const Model& model, const Experiment& e) {
  const TrainingOptions options = e.training();
  TrainingState best(model, options, e.seed);
  read_state(json, options, best);
  best.learning_rate = json["learning_rate"].number(0, 1);
  if (!best.diverged_step && best.curve.empty())
    json["learning_curve"].fail("expected the validations up to its end");
  return best;
}

/// Refuses a file of losses that has changed since the checkpoint.
void check_losses(const std::string& expected, const LearningRateSweep& sweep,
                  const std::filesystem::path& losses) {
  const std::string now = trace_checksum(losses, sweep);
  if (now == expected) return;
  const std::string found = now.empty() ? "it is missing" : fmt::format("its checksum is {}", now);
  throw InputError(fmt::format("{}: {}, expected {} at the checkpoint", losses.string(), found, expected));
}

}  // namespace

std::filesystem::path checkpoint_path(const std::filesystem::path& run, const ExperimentId& id) {
  return run / "checkpoints" / (file_stem(id) + ".safetensors");
}

void write_checkpoint(const std::filesystem::path& path, const Experiment& e, const Model& model,
                      const LearningRateSweep& sweep, double seconds, const std::filesystem::path& losses) {
  SafeTensors file{.metadata = origin(e), .tensors = {}};
  const TrainingState& state = sweep.state;
  Json json = write_state(state);
  json["seconds"] = seconds;
  if (!losses.empty()) json[kLossesChecksum] = trace_checksum(losses, sweep);
  add_parameters(model.layout, state.parameters, "", file);
  for (const auto& [name, tensor] : state.optimizer.tensors)
    add_parameters(model.layout, tensor, optimizer_prefix(name), file);
  if (sweep.best) {
    json["tried"] = write_list(sweep.tried, [](const RateResult& rate) { return to_json(rate); });
    json["best"] = write_best(*sweep.best);
    add_parameters(model.layout, sweep.best->parameters, "best.", file);
  }
  file.metadata[kState] = to_compact_json(json);
  write_file(path, to_bytes(file), OutputFile::Links::replace);
}

double read_checkpoint(const std::filesystem::path& path, const Experiment& e, const Model& model,
                       LearningRateSweep& sweep, const std::filesystem::path& losses) {
  const std::string name = path.string();
  const SafeTensors file = parse_safetensors(read_file(path), name);
  const auto text = [&](const std::string& key) {
    const auto found = file.metadata.find(key);
    return found == file.metadata.end() ? "" : found->second;
  };
  for (const auto& [key, expected] : origin(e)) {
    if (text(key) != expected) {
      throw_json_error(name, "__metadata__." + key, text(key),
                       fmt::format("expected {}", describe_json(Json(expected))));
    }
  }
  const std::string position = name + ": __metadata__.state";
  const Json json = parse_json(text(kState), position);
  const Field field(json, position);
  const TrainingOptions options = e.training();
  LearningRateSweep read(model, options, e.seed);
  if (field.has("tried")) {
    const Field tried = field["tried"];
    read.tried = read_rates(tried);
    if (read.tried.empty() || read.tried.size() >= options.learning_rates.size())
      tried.fail(fmt::format("expected some, but not all, of {} learning rates", options.learning_rates.size()));
    read.best = read_best(field["best"], model, e);
    read.best->parameters = read_parameters(model.layout, file, "best.", name);
  }
  read.state.learning_rate = options.learning_rates[read.tried.size()];
  read_state(field, options, read.state);
  read.state.parameters = read_parameters(model.layout, file, "", name);
  for (auto& [tensor_name, tensor] : read.state.optimizer.tensors)
    tensor = read_parameters(model.layout, file, optimizer_prefix(tensor_name), name);
  const double seconds = field["seconds"].number(0, kMaxDouble);
  if (!losses.empty() && field.has(kLossesChecksum)) check_losses(field[kLossesChecksum].text(), read, losses);
  sweep = std::move(read);
  return seconds;
}

}  // namespace posbench
