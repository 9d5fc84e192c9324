// The state of an unfinished training, in a file: parameters, optimizer state, step and learning curve, and the
// parameters of the best learning rate before. Random streams derive from the step, so that a resumed training gives
// the same bytes as an uninterrupted one.
#pragma once
#include <filesystem>

#include "harness/training/experiment.h"

namespace posbench {

/// Its path in a run directory, where it is until the experiment is finished.
std::filesystem::path checkpoint_path(const std::filesystem::path& run, const ExperimentId&);

/// `seconds` were spent on the experiment up to here.
void write_checkpoint(const std::filesystem::path&, const Experiment&, const Model&, const LearningRateSweep&,
                      double seconds);

/// Restores the sweep; returns the seconds. Throws std::runtime_error, with one line that names the file and the
/// position in it, if it is damaged or belongs to another experiment, configuration or version; the sweep is then
/// unchanged.
double read_checkpoint(const std::filesystem::path&, const Experiment&, const Model&, LearningRateSweep&);

}  // namespace posbench
