// Training steps by compute instead of by number: `run --match-compute none`. The costs of encodings are those that the
// program was built with (results/board/cost.json) and stand in the configuration of the run, so that shards, resumed runs
// and repetitions on other machines train the same steps.
#pragma once
#include <map>
#include <string>
#include <vector>

namespace posbench {

/// Every encoding gets the steps that take as much core time as those of the base.
struct MatchedCompute {
  std::string base;                     // an encoding
  std::map<std::string, double> costs;  // of a training step, by encoding; the base among them
};

/// Adds the costs of the base and of the encodings that it does not have yet. Throws std::invalid_argument where one is
/// not known.
void find_costs(MatchedCompute&, const std::vector<std::string>& encodings);

/// The steps of an encoding whose task has so many; one at least. Throws std::invalid_argument if its cost is not known.
int matched_steps(const MatchedCompute&, int steps, const std::string& encoding);

}  // namespace posbench
