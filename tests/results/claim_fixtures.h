// Makes claims and their evidence for tests: encodings that solve a task, fail, or solve it with some seeds.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "results/statistics/claims.h"

namespace posbench {

/// Fourteen seeds each: one more than the fewest that decide a rule among all claims.
inline const std::vector<double> kHigh = {1, 0.99, 1, 0.98, 1, 0.99, 1, 1, 0.99, 1, 0.98, 1, 0.99, 1},
                                 kLow = {0.2, 0.25, 0.3, 0.2, 0.22, 0.31, 0.2,
                                         0.2, 0.25, 0.3, 0.2, 0.22, 0.31, 0.2},
                                 kMixed = {1, 0.2, 1, 0.3, 0.2, 1, 1, 1, 0.2, 1, 0.3, 0.2, 1, 1};

inline ClaimCell cell(const std::string& run, const std::string& split = "ood_far") {
  return {.task = "task", .encoding = run, .split = split, .run = run};
}

inline OrderRule order(const std::string& high, const std::string& low, double least = 0.2) {
  return {.high = cell(high), .low = cell(low), .gap = 4 * least, .least = least};
}

inline Claim claim(std::vector<Rule> rules) {
  return {
      .name = "mine", .statement = "It is so.", .family = "all", .source = "nowhere", .rules = std::move(rules)};
}

inline void add(AllEvidence& all, const ClaimCell& cell, const std::vector<double>& values, int learned = 7) {
  Evidence& evidence = all[evidence_key(cell, Metric::sequence)];
  for (size_t seed = 0; seed < values.size(); ++seed) evidence.seeds.push_back(seed);
  evidence.values = values;
  evidence.learned = {.seeds = {learned, 7}, .late_gain = 0.125};
}

inline AllEvidence three_encodings() {
  AllEvidence all;
  add(all, cell("solves"), kHigh);
  add(all, cell("fails"), kLow);
  add(all, cell("mixed"), kMixed);
  return all;
}

}  // namespace posbench
