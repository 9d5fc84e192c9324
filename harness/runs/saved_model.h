// Trained models in files (`--save-models`), and what it takes to use one again: the encoding, the task, the seed
// and the configuration stand in the metadata of the .safetensors file.
#pragma once
#include <filesystem>
#include <memory>

#include "harness/training/experiment.h"

namespace posbench {

/// "flip_flop-cope-0", or with options "flip_flop-cope_positions_16-0-5f1c32aa": a file's name, without its
/// ending, that belongs to this experiment alone.
std::string file_stem(const ExperimentId&);

/// Where a run directory keeps the model of an experiment.
std::filesystem::path model_path(const std::filesystem::path& run, const ExperimentId&);

void save_model(const std::filesystem::path&, const Experiment&, const Model&, const Parameters&);

struct SavedModel {
  std::unique_ptr<TaskSetup> task;
  Experiment experiment;  // of this task
  Model model;
  Parameters parameters;
};

/// Throws std::runtime_error with one line that names the file, and the place in it.
SavedModel load_model(const std::filesystem::path&);

}  // namespace posbench
