#include "harness/exchange/saved_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/printable.h"
#include "encodings/registry.h"
#include "harness/config/experiment_config.h"
#include "harness/config/names.h"
#include "harness/exchange/array_file.h"
#include "harness/exchange/safetensors.h"
#include "results/json/checksum.h"

namespace posbench {
namespace {

constexpr const char* kOrientation =
    "a linear map is stored as (inputs, outputs), y = x W + b; but the two of dape and dape_v2, whose inputs are "
    "heads, as (outputs, inputs)";

const std::string& find_metadata(const SafeTensors& file, const std::string& key, const std::string& name) {
  const auto found = file.metadata.find(key);
  if (found == file.metadata.end())
    throw InputError(fmt::format("{}: __metadata__.{} is missing; it is no model of posbench", name, key));
  return found->second;
}

constexpr const char* kModelFormat = "posbench model 2";

/// Refuses a model of an unknown format. The first format stored the projections of relative sinusoids as
/// (outputs, inputs).
void check_format(const std::string& format, const ParameterLayout& layout, const std::string& name) {
  if (format == kModelFormat) return;
  if (format != "posbench model 1") {
    throw InputError(fmt::format("{}: __metadata__.format is \"{}\", expected \"{}\"", name,
                                 to_one_line(format, 50), kModelFormat));
  }
  for (const ParameterLayout::Entry& entry : layout.entries()) {
    if (entry.name.find(".projection") == entry.name.npos || entry.name.starts_with("grape")) continue;
    throw InputError(fmt::format(
        "{}: '{}' is stored as (outputs, inputs) by an earlier version; train the model again", name, entry.name));
  }
}

/// Returns the names of the files with the models of a run, in order.
std::vector<std::string> saved_models(const std::filesystem::path& run) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(run / "models", ignored)) {
    if (entry.path().extension() == ".safetensors") names.push_back(entry.path().filename().string());
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace

std::string file_stem(const ExperimentId& id) {
  const std::string exact = fmt::format("{}-{}-{}", id.task, id.encoding, id.seed);
  constexpr size_t kMax = 150;  // of the 255 that file systems take
  std::string stem = exact.substr(0, kMax);
  for (char& c : stem) {
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '-' && c != '.') c = '_';
  }
  if (stem == exact) return stem;
  return stem + "-" + crc32_text(exact);
}

std::filesystem::path model_path(const std::filesystem::path& run, const ExperimentId& id) {
  return run / "models" / (file_stem(id) + ".safetensors");
}

void save_model(const std::filesystem::path& path, const Experiment& e, const Model& model,
                const Parameters& parameters) {
  SafeTensors file;
  const Json config = to_json(config_of(e));
  file.metadata = {{"format", kModelFormat},
                   {"task", e.task->spec},
                   {"encoding", e.encoding_text},
                   {"seed", fmt::format("{}", e.seed)},
                   {"model", to_compact_json(config["model"])},
                   {"config", to_compact_json(config)},
                   {"vocabulary", fmt::format("{}", model.config.vocabulary)},
                   {"trained_length", fmt::format("{}", model.config.trained_length)},
                   {"longest", fmt::format("{}", model.config.longest)},
                   {"orientation", kOrientation}};
  add_parameters(model.layout, parameters, "", file);
  write_file(path, to_bytes(file), OutputFile::Links::replace);
}

ExperimentId experiment_id(const std::string& task, const std::string& encoding, std::uint64_t seed) {
  return {read_task(task).text(), read_encoding(encoding).text(), seed};
}

std::filesystem::path find_model(const std::filesystem::path& run, const std::string& task,
                                 const std::string& encoding, std::uint64_t seed) {
  if (std::filesystem::is_regular_file(run)) {
    throw InputError(
        fmt::format("{} is a file, expected a run directory of 'posbench run --save-models'", run.string()));
  }
  if (!std::filesystem::exists(run))
    throw InputError(fmt::format("{} does not exist, expected a run directory", run.string()));
  const ExperimentId id = experiment_id(task, encoding, seed);
  const std::filesystem::path path = model_path(run, id);
  if (std::filesystem::exists(path)) return path;
  const std::vector<std::string> saved = saved_models(run);
  constexpr size_t kNamed = 6;
  const std::string hint =
      saved.empty() ? "'posbench run --save-models' saves models"
                    : fmt::format("the run has models/{}{}",
                                  fmt::join(std::span(saved).first(std::min(kNamed, saved.size())), ", models/"),
                                  saved.size() > kNamed ? fmt::format(" and {} more", saved.size() - kNamed) : "");
  throw InputError(fmt::format("{} does not exist: {} has no model of '{}' on '{}' with seed {}; {}",
                               path.string(), run.string(), id.encoding, id.task, id.seed, hint));
}

SavedModel load_model(const std::filesystem::path& path) {
  const std::string name = path.string();
  const SafeTensors file = within_memory(path, [&] { return parse_safetensors(read_array_bytes(path), name); });
  const auto text = [&](const std::string& key) { return find_metadata(file, key, name); };
  SavedModel saved;
  try {
    const std::string config_place = name + ": __metadata__.config";
    const RunConfig config = config_from_json(parse_json(text("config"), config_place), config_place);
    saved.task = std::make_unique<TaskSetup>(setup_task(config, TaskSpec::parse(text("task"))));
    saved.experiment = {saved.task.get(), Spec::parse(text("encoding")), parse_seeds(text("seed") + ",").at(0)};
    saved.model = make_model(saved.experiment.encoding, saved.task->model_config);
  } catch (const InputError& error) {
    const std::string message = error.what();
    throw InputError(message.starts_with(name) ? message : name + ": " + message);
  }
  check_format(text("format"), saved.model.layout, name);
  saved.parameters = read_parameters(saved.model.layout, file, "", name);
  return saved;
}

}  // namespace posbench
