// Writes the loss of every step of an experiment to a file of its run directory (`run --trace-loss`).
#pragma once
#include <filesystem>
#include <string>

#include "harness/training/experiment.h"
#include "harness/training/learning_rate_sweep.h"

namespace posbench {

constexpr const char* kLossFolder = "losses";

/// Returns the path of the losses of an experiment in a run directory: losses/*.csv.
std::filesystem::path trace_path(const std::filesystem::path& run, const ExperimentId&);

/// Starts the file, or continues it after the steps that the sweep has done. Later lines are deleted, since their
/// steps are repeated. The lines are learning_rate,step,loss; steps count from 1. Throws FileError, as does
/// add_to_trace.
void start_trace(const std::filesystem::path&, const LearningRateSweep&);
/// Adds the line of the last update.
void add_to_trace(const std::filesystem::path&, const LearningRateSweep&);

/// The key under which records of a run keep the checksum.
constexpr const char* kLossesChecksum = "losses_crc32";

/// Flushes the file to disk and returns its checksum; "" if there is no file. Throws FileError.
std::string trace_checksum(const std::filesystem::path&);
/// Does the same for the lines of the steps that the sweep has done.
std::string trace_checksum(const std::filesystem::path&, const LearningRateSweep&);

}  // namespace posbench
