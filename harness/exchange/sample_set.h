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
  size_t split = 0;  // of the task
  std::uint64_t first = 0, count = 0;

  /// Returns sample n of the stream, as in training: if all sequences of a batch have one length, it has that of
  /// its batch.
  SampleStream::Sample sample(std::uint64_t n) const;
  SampleStream stream() const { return task->stream(id); }
};

/// Reads the name of a stream: train, validation, or a split for its test samples, which may also be test:SPLIT.
StreamId parse_stream(const std::string&, std::uint64_t seed);

/// Builds the task of a split again, so that all of its samples have this length, in the task's unit. Throws
/// InputError if the task does not allow the length, or if a trained model could not follow.
void set_length(TaskSetup&, size_t split, int length);

/// `purpose` is a name that parse_stream reads. Throws InputError if the task, its options or the split are
/// unknown.
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
