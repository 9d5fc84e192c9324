// Summarizes a comparison by tasks: a verdict on each task, and how often a candidate is better over all tasks.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "results/statistics/aggregate.h"
#include "results/statistics/comparison.h"
#include "results/statistics/verdict.h"

namespace posbench {

/// The rows of one task and one pair of encodings.
struct ComparedTask {
  size_t candidate = 0;  // its index
  std::string task, encoding, candidate_encoding;
  /// better or worse, if the candidate is so on a split and the opposite on none. Otherwise the first that a row
  /// has of not learned, too few seeds and inconclusive; same if all rows are.
  Verdict verdict = Verdict::inconclusive;
  bool is_mixed = false;                // inconclusive: better on a split and worse on another
  Count before_learned, after_learned;  // seeds
  bool have_learned = false;            // both sides
  std::vector<double> before,
      after;                // of each seed: the mean over the splits out of distribution, if one decides
  std::optional<double> p;  // corrected, the smallest of the splits that are better or worse
  /// The splits that have the verdict, those out of distribution if there are any, and the means over them.
  std::vector<std::string> splits;
  double before_mean = 0, after_mean = 0;
};

/// Returns the tasks of each pair, in the order of the rows.
std::vector<ComparedTask> compared_tasks(const Comparison&);

/// Returns the encoding of the candidate, with its report if there are several.
std::string candidate_name(const Comparison&, const ComparedTask&);

/// The tasks of one candidate, or of one pair of encodings if their names differ.
struct ComparedOverTasks {
  std::string before, after;                               // names of the pair, or of the runs
  size_t better = 0, worse = 0, mixed = 0, undecided = 0;  // tasks
  size_t both_learned = 0;
  std::optional<Estimate> after_is_better;  // the probability for a seed, over the tasks that both have learned
};

std::vector<ComparedOverTasks> compare_over_tasks(const Comparison&, const std::vector<ComparedTask>&);

}  // namespace posbench
