// Matches the training steps of encodings by compute: `run --match-compute none`. The configuration of a run
// stores the costs of its encodings, from results/data/board/cost.json, so that shards, resumed runs and
// repetitions on other machines train the same steps.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "base/spec.h"

namespace posbench {

/// Every encoding gets the steps that take as much core time as those of the base.
struct MatchedCompute {
  std::string base;                     // an encoding
  std::map<std::string, double> costs;  // of a training step, by encoding, including the base
};

/// Adds the missing costs of the base and of the encodings. Throws InputError if one is not known.
void find_costs(MatchedCompute&, const std::vector<Spec>& encodings);

/// Returns the steps of an encoding whose task has `steps`; at least 1. Throws InputError if its cost is not
/// known.
int matched_steps(const MatchedCompute&, int steps, const std::string& encoding);

}  // namespace posbench
