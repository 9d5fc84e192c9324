// Trained models in files (`--save-models`). The metadata of the .safetensors file has all that loading one needs:
// task, encoding, seed and configuration; the sizes `vocabulary`, `trained_length` and `longest` (tokens), which some
// encodings depend on; and `orientation`, how linear maps are stored.
#pragma once
#include <filesystem>
#include <memory>

#include "harness/training/experiment.h"

namespace posbench {

/// "flip_flop-cope-0", or with options "flip_flop-cope_positions_16-0-5f1c32aa": a file's name, without its
/// ending, that belongs to this experiment alone.
std::string file_stem(const ExperimentId&);

/// The path of the model of an experiment in a run directory.
std::filesystem::path model_path(const std::filesystem::path& run, const ExperimentId&);

void save_model(const std::filesystem::path&, const Experiment&, const Model&, const Parameters&);

struct SavedModel {
  std::unique_ptr<TaskSetup> task;
  Experiment experiment;  // of this task
  Model model;
  Parameters parameters;
};

/// The experiment of specs as a user writes them. Throws std::invalid_argument if they are unknown.
ExperimentId experiment_id(const std::string& task, const std::string& encoding, std::uint64_t seed);

/// The file of the model of these specs in a run directory. Throws std::invalid_argument if there is none.
std::filesystem::path find_model(const std::filesystem::path& run, const std::string& task,
                                 const std::string& encoding, std::uint64_t seed);

/// Throws std::runtime_error with one line that names the file, and the position in it.
SavedModel load_model(const std::filesystem::path&);

}  // namespace posbench
