// Describes a range of samples for other programs. A manifest is written next to exported samples and next to the
// answers of a model to them.
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "harness/config/config.h"
#include "harness/training/samples.h"
#include "harness/training/task_setup.h"

namespace posbench {

constexpr std::int64_t kMaxSampleNumber = 1'000'000'000'000;

struct SampleSet {
  RunConfig config;  // the whole configuration; `task` has its part for the task
  std::unique_ptr<TaskSetup> task;
  StreamId id;
  size_t split = 0;                        // of the task
  const TaskGrid* grid = nullptr;          // of `task`, if these are tests at a multiple of a trained value
  const TaskGrid::Point* point = nullptr;  // of `grid`
  std::uint64_t first = 0, count = 0;

  /// Returns sample n of the stream, as in training: if all sequences of a batch have one length, it has that of
  /// its batch.
  SampleStream::Sample sample(std::uint64_t n) const;
  SampleStream stream() const { return point ? task->grid_stream(*grid, *point, id.seed) : task->stream(id); }
  /// Returns the task that makes the samples.
  const Task& made() const { return point ? *point->task : *task->tasks[split]; }
};

/// Reads the name of a stream: train, validation, or a split for its test samples, which may also be test:SPLIT.
/// The test samples at a multiple of the trained length are grid:length=2x.
StreamId parse_stream(const std::string&, std::uint64_t seed);

/// Builds the task of a split again, so that all of its samples have this length, in the task's unit. Throws
/// InputError if the task does not allow the length, or if a trained model could not follow.
void set_length(TaskSetup&, size_t split, int length);

/// `purpose` is a name that parse_stream reads, or length=2x if no split has this name. Throws InputError if the
/// task, its options, the split or the multiple are unknown, or for the split `packed`.
SampleSet make_sample_set(const RunConfig&, const std::string& task, const std::string& purpose,
                          std::uint64_t seed, std::uint64_t first, std::uint64_t count);

/// Returns task, options, version, vocabulary, chance level, splits, range, configuration and the posbench
/// version.
Json manifest(const SampleSet&);
/// Reads a manifest. Throws InputError, which names `file`, if it is invalid or if the task now has another
/// version.
SampleSet read_manifest(const Json&, const std::string& file);

/// Returns the path of the manifest of a file of samples or answers: FILE.manifest.json.
std::filesystem::path manifest_path(const std::filesystem::path& file);

/// Returns manifest_path() of a file that will be written with its manifest. Throws InputError if something else
/// than a manifest has this path and would be lost.
std::filesystem::path default_manifest(const std::filesystem::path& file);

}  // namespace posbench
