// Saves and loads trained models (`--save-models`). The metadata of the .safetensors file has everything that
// loading needs: task, encoding, seed and configuration; the sizes `vocabulary`, `trained_length` and `longest`
// (tokens), on which some encodings depend; and `orientation`, the layout of linear maps.
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "harness/training/experiment.h"
#include "harness/training/make_model.h"

namespace posbench {

/// Returns the name of a file, without its extension, that no other experiment has: "flip_flop-cope-0" or, with
/// options, "flip_flop-cope_positions_16-0-5f1c32aa".
std::string file_stem(const ExperimentId&);

/// Returns the path of the model of an experiment in a run directory.
std::filesystem::path model_path(const std::filesystem::path& run, const ExperimentId&);

void save_model(const std::filesystem::path&, const Experiment&, const Model&, const Parameters&);

struct SavedModel {
  std::unique_ptr<TaskSetup> task;
  Experiment experiment;  // of this task
  Model model;
  Parameters parameters;
};

/// Returns the experiment of specs that a user writes. Throws InputError if they are unknown.
ExperimentId experiment_id(const std::string& task, const std::string& encoding, std::uint64_t seed);

/// Returns the file of the model of these specs in a run directory. Throws InputError if there is none.
std::filesystem::path find_model(const std::filesystem::path& run, const std::string& task,
                                 const std::string& encoding, std::uint64_t seed);

/// Throws InputError, which names the file and the position in it.
SavedModel load_model(const std::filesystem::path&);

}  // namespace posbench
