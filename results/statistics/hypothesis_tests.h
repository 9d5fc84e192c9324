// Tests the rows of a comparison: differences, their noise and intervals, and p-values.
#pragma once
#include <cstddef>
#include <vector>

#include "results/statistics/comparison.h"

namespace posbench {

/// A task and an encoding on both sides, with one row for each split.
struct ComparedPair {
  Experiments before, after;
  std::vector<ComparisonRow> rows;
  bool by_seed = false;  // the experiments of both sides correspond, seed by seed
};

/// Sets the difference, the noise, the intervals and the p-values of all rows. The p-values are corrected for the
/// tests of all pairs. Returns the number of tests.
size_t test_hypotheses(std::vector<ComparedPair>&, const CompareOptions&);

}  // namespace posbench
