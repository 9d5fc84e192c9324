// The certificate of a task: what its generator promises, held against many samples.
#pragma once
#include <string>

#include "harness/training/samples.h"
#include "results/json/json.h"

namespace posbench {

/// Of every split, in every layout that it is defined in: ids in range, what is scored has a target, the oracle
/// agrees, the same seed gives the same sample. Besides: no answer is more frequent than declared; samples of the
/// training stream recur no more often than in fresh draws of the split; and what trivial predictors reach. Throws
/// std::invalid_argument for a bad spec.
Json certify_task(const std::string& spec);

/// How many of the samples of a stream stand in the training stream, and how many of as many fresh draws do.
struct Recurrence {
  int seen = 0, by_chance = 0, samples = 0;
  bool excessive() const;
};
Recurrence recurrence(const SampleStream& training, const SampleStream& test, const SampleStream& fresh);

}  // namespace posbench
