#include "tasks/parts/selective_copying.h"

#include <cmath>
#include <utility>
#include <vector>

#include "tasks/parts/examples.h"

namespace posbench {

int num_blanks(double blanks_per_token, int data_tokens) {
  return static_cast<int>(std::lround(blanks_per_token * data_tokens));
}

Example ask_scattered(Layout layout, const std::vector<int>& data, int blanks, const BlankIds& ids, Rng& rng) {
  const int length = static_cast<int>(data.size()), positions = length + blanks;
  std::vector<int> position = sample_distinct(rng, positions, length);
  std::vector<int> question(positions, ids.blank);
  for (int n = 0; n < length; ++n) question[position[n]] = data[n];
  Example example = ask(layout, std::move(question), ids.marker, data);
  set_evidence(example, std::move(position));
  return example;
}

std::vector<TaskInfo::Split> selective_copying_splits() {
  return {{"in_distribution", {}, "two blanks for each data token"},
          {"ood_dense", {{"blanks", "1"}}, "half as many blanks, for the same data tokens"},
          {"ood_sparse", {{"blanks", "4"}}, "twice as many blanks, for the same data tokens"},
          {"ood_length", {{"length", "2x"}}, "twice as many data tokens, at the trained density"}};
}

}  // namespace posbench
