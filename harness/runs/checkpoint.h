// Stores the state of an unfinished training in a file: parameters, optimizer state, step and learning curve, and
// the parameters of the best earlier learning rate. Random streams derive from the step, so that a resumed
// training gives the same bytes as an uninterrupted one.
#pragma once
#include <filesystem>

#include "harness/training/experiment.h"
#include "harness/training/learning_rate_sweep.h"

namespace posbench {

/// Returns the path in a run directory. The file exists until the experiment is finished.
std::filesystem::path checkpoint_path(const std::filesystem::path& run, const ExperimentId&);

/// `seconds` were spent on the experiment until now. `losses` is the file of its losses; empty without
/// --trace-loss.
void write_checkpoint(const std::filesystem::path&, const Experiment&, const Model&, const LearningRateSweep&,
                      double seconds, const std::filesystem::path& losses = {});

/// Restores the sweep and returns the seconds. Throws InputError, which names the file and the position in it, if
/// the file is damaged or belongs to another experiment, configuration or version, or if the losses up to its step
/// have changed; the sweep is then unchanged.
double read_checkpoint(const std::filesystem::path&, const Experiment&, const Model&, LearningRateSweep&,
                       const std::filesystem::path& losses = {});

}  // namespace posbench
