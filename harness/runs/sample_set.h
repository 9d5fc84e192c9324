// A range of samples for other programs, and the manifest that describes it: a file next to exported samples, and
// next to the answers of a model to them.
#pragma once
#include <filesystem>
#include <memory>

#include "harness/runs/config.h"
#include "harness/training/samples.h"
#include "harness/training/task_setup.h"

namespace posbench {

struct SampleSet {
  Config config;  // all of it; `task` has the part for the task
  std::unique_ptr<TaskSetup> task;
  std::string purpose;  // "train", "validation", "test:ood_sparse"
  size_t split = 0;     // of the task
  std::uint64_t seed = 0, first = 0, count = 0;

  /// Sample n of the stream, as in training: if all sequences of a batch have one length, it has that of its batch.
  SampleStream::Sample sample(std::uint64_t n) const;
  /// Samples of the stream. A finite training set repeats.
  SampleStream stream() const {
    const int distinct = purpose == "train" ? task->options.training.samples : 0;
    return {*task->tasks[split], purpose, seed, std::nullopt, false, static_cast<std::uint64_t>(distinct)};
  }
  /// Predictions are chosen among the ids below this.
  int outputs() const;
};

/// Throws std::invalid_argument where the task, its options or the purpose are unknown.
SampleSet make_sample_set(const Config&, const std::string& task, const std::string& purpose, std::uint64_t seed,
                          std::uint64_t first, std::uint64_t count);

/// Task, options, version, vocabulary, chance level, splits, range, configuration and the posbench version.
Json manifest(const SampleSet&);
/// The inverse. Throws std::runtime_error with one line that names `file`, if something is missing or invalid, or
/// the task now has another version.
SampleSet read_manifest(const Json&, const std::string& file);

/// The path of the manifest of a file of samples or answers: FILE.manifest.json.
std::filesystem::path manifest_path(const std::filesystem::path& file);

}  // namespace posbench
