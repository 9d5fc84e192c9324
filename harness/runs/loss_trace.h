// The loss of every step of an experiment, in a file of its run directory (`run --trace-loss`).
#pragma once
#include <filesystem>

#include "harness/training/experiment.h"

namespace posbench {

constexpr const char* kLossFolder = "losses";

/// The path of the losses of an experiment in a run directory: losses/*.csv.
std::filesystem::path trace_path(const std::filesystem::path& run, const ExperimentId&);

/// Starts the file, or continues it after the steps that the sweep has done; later lines are deleted, since their
/// steps are repeated. Lines: learning_rate,step,loss, where step counts from 1. Throws FileError, as below.
void begin_trace(const std::filesystem::path&, const LearningRateSweep&);
/// Adds the line of the last update.
void add_to_trace(const std::filesystem::path&, const LearningRateSweep&);

}  // namespace posbench
