// A range of samples that other programs use, and the manifest that says which: it stands beside exported samples,
// and beside what a model answered on them.
#pragma once
#include <filesystem>
#include <memory>

#include "harness/runs/config.h"
#include "harness/training/samples.h"
#include "harness/training/task_setup.h"

namespace posbench {

struct SampleSet {
  Config config;  // the whole of it; `task` holds what of it counts for the task
  std::unique_ptr<TaskSetup> task;
  std::string purpose;  // "train", "validation", "test:ood_sparse"
  size_t split = 0;     // of the task
  std::uint64_t seed = 0, first = 0, count = 0;

  /// Sample n of the stream, as training draws it: where the sequences of a batch have one length, that of its batch.
  SampleStream::Sample sample(std::uint64_t n) const;
  SampleStream stream() const {
    const int distinct = purpose == "train" ? task->options.training.samples : 0;
    return {*task->tasks[split], purpose, seed, std::nullopt, false, static_cast<std::uint64_t>(distinct)};
  }
  /// The ids that predictions choose among are those below this.
  int outputs() const;
};

/// Throws std::invalid_argument where the task, its options or the purpose are unknown.
SampleSet make_sample_set(const Config&, const std::string& task, const std::string& purpose, std::uint64_t seed,
                          std::uint64_t first, std::uint64_t count);

/// Task, options, version, vocabulary, chance level, splits, range, configuration and the posbench version.
Json manifest(const SampleSet&);
/// The reverse. Throws std::runtime_error with one line that names `file`, where something is missing or wrong, or
/// the task now has another version.
SampleSet read_manifest(const Json&, const std::string& file);

/// Where the manifest of a file of samples or answers is: FILE.manifest.json.
std::filesystem::path manifest_path(const std::filesystem::path& file);

}  // namespace posbench
