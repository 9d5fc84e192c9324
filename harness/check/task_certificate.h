// The certificate of a task checks its generator on many samples.
#pragma once
#include <cstdint>
#include <string>
#include <unordered_set>

#include "harness/training/samples.h"
#include "results/json/json.h"
#include "tasks/task.h"

namespace posbench {

/// Returns a message if a marked task has no learnability_note, or a learnable task has one; otherwise "".
std::string check_learnability(const TaskInfo&);

/// Checks every split in every layout that the task supports: ids are in range, every scored position has a
/// target, the oracle agrees, the same seed gives the same sample, no answer is more frequent than declared, and
/// test samples occur in the training stream no more often than fresh draws of the split. Also calls
/// check_learnability and reports the trivial baselines. Throws InputError for a bad spec.
Json certify_task(const std::string& spec);

/// Returns the fingerprints of the first training samples.
std::unordered_set<std::uint64_t> training_fingerprints(const SampleStream&);

/// The number of samples of a stream, and of as many fresh draws, that also occur in training.
struct Recurrence {
  int seen = 0, by_chance = 0, samples = 0;
  bool excessive() const;
};
/// Counts them. `trained` has the fingerprints of the training samples.
Recurrence recurrence(const std::unordered_set<std::uint64_t>& trained, const SampleStream& test,
                      const SampleStream& fresh);

}  // namespace posbench
