// Training under way, in a file: parameters, the optimizer's memory, the step and the curve, and what was learned
// at the best of the learning rates before. Random streams derive from the step, so that what goes on from here
// gives the same bytes as what was never interrupted.
#pragma once
#include <filesystem>

#include "harness/training/experiment.h"

namespace posbench {

/// Where a run directory keeps it, until the experiment is finished.
std::filesystem::path checkpoint_path(const std::filesystem::path& run, const ExperimentId&);

/// `seconds` were spent on the experiment up to here.
void write_checkpoint(const std::filesystem::path&, const Experiment&, const Model&, const LearningRateSweep&,
                      double seconds);

/// Sets the sweep to what was written; returns the seconds. Throws std::runtime_error with one line that names
/// the file and the position in it where it is damaged or belongs to another experiment, configuration or version;
/// the sweep is then what it was.
double read_checkpoint(const std::filesystem::path&, const Experiment&, const Model&, LearningRateSweep&);

}  // namespace posbench
