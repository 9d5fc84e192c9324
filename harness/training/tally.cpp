#include "harness/training/tally.h"

namespace posbench {

void Tally::add(const Example& example, int length, const std::vector<bool>& right) {
  ++counts_.sequences;
  Count token, sequence{0, 1};
  for (size_t n = 0; n < right.size(); ++n) {
    token += {right[n], 1};
    if (example.distances.empty()) continue;
    DistanceResult& at = by_distance_[example.distances[n]];
    at.distance = example.distances[n];
    at.token += {right[n], 1};
  }
  if (token.total == 0) return;
  sequence.correct = token.correct == token.total;
  LengthResult& at = by_length_[length];
  at.length = length;
  at.token += token;
  at.sequence += sequence;
  counts_.token += token;
  counts_.sequence += sequence;
}

SplitResult Tally::result() const {
  SplitResult result = counts_;
  for (const auto& [length, counts] : by_length_) result.by_length.push_back(counts);
  for (const auto& [distance, counts] : by_distance_) result.by_distance.push_back(counts);
  return result;
}

}  // namespace posbench
