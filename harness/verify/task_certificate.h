// The certificate of a task: checks its generator on many samples.
#pragma once
#include <string>

#include "harness/training/samples.h"
#include "results/json/json.h"

namespace posbench {

/// Checks for every split, in every layout that the task supports: ids are in range, every scored position has a
/// target, the oracle agrees, and the same seed gives the same sample. Also checks that no answer is more frequent
/// than declared and that samples of the training stream recur no more often than in fresh draws of the split, and
/// reports the trivial baselines. Throws std::invalid_argument for a bad spec.
Json certify_task(const std::string& spec);

/// How many samples of a stream also occur in the training stream, and how many of as many fresh draws do.
struct Recurrence {
  int seen = 0, by_chance = 0, samples = 0;
  bool excessive() const;
};
Recurrence recurrence(const SampleStream& training, const SampleStream& test, const SampleStream& fresh);

}  // namespace posbench
