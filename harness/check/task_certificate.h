// The certificate of a task checks its generator on many samples.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "harness/training/samples.h"
#include "results/types/task_baseline.h"
#include "tasks/task.h"

namespace posbench {

/// A fraction of the answers of a split, and what the registration declares or chance gives.
struct MeasuredFraction {
  double measured = 0, declared = 0;
};

/// The best predictor that reads one feature.
struct Shortcut {
  std::string kind, feature;
  MeasuredFraction accuracy;
};

/// The certificate of one split.
struct SplitCertificate {
  SplitBaseline baseline;
  size_t lengths = 0;                                       // the number of different ones
  std::optional<MeasuredFraction> largest_answer_fraction;  // empty after a fault
  std::vector<Shortcut> shortcuts;
  int training_samples = 0;
  double seen_in_training = 0, seen_by_chance = 0;  // fractions of the samples
};

/// The certificate of a task. It passes if it has no faults.
struct TaskCertificate {
  std::string task;     // its spec
  int samples = 0;      // of each split and layout
  bool oracle = false;  // true if the samples are compared with an oracle
  std::vector<std::string> layouts;
  std::vector<SplitCertificate> splits;
  std::vector<std::string> faults;

  bool passed() const { return faults.empty(); }
};

/// Returns a message if a marked task has no learnability_note, or a learnable task has one; otherwise "".
std::string check_learnability(const TaskInfo&);

/// Checks every split in every layout that the task supports: ids are in range, every scored position has a
/// target, the oracle agrees, the same seed gives the same sample, no answer is more frequent than declared, and
/// test samples occur in the training stream no more often than fresh draws of the split. Also calls
/// check_learnability and reports the trivial baselines. Throws InputError for a bad spec.
TaskCertificate certify_task(const std::string& spec);

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
