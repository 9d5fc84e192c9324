// Defines the result of a comparison of runs. compare.h states the rules of the verdicts.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "results/statistics/learned.h"
#include "results/statistics/statistics.h"
#include "results/statistics/verdict.h"
#include "results/types/experiment_result.h"
#include "results/types/metric.h"

namespace posbench {

/// The seeds on each side that a verdict needs. The smallest p-value of four seeds is 2 in 70, which is above 0.05
/// after a correction for two tests.
constexpr size_t kEnoughSeeds = 5;

struct CompareOptions {
  double alpha = 0.05;      // the probability of any better or worse in a comparison of equals
  double threshold = 0.02;  // the smallest difference of the metric that matters
  Metric metric = Metric::sequence;
  bool allow_different_budget = false;
  /// Encodings that are compared although their specs differ, of the baseline and of the candidates: {"cope",
  /// "cope:positions=16"}. An encoding of the baseline named here is compared with these encodings only.
  std::vector<std::pair<std::string, std::string>> match;
  bool only_matched = false;  // leave out all other encodings
};

/// Returns the threshold of a metric if the user gives none: 0.5 for the effective length, which is the smallest
/// step of its multiples, and 0.02 for others.
double default_threshold(Metric);

/// One side of a row: the baseline or the candidate.
struct ComparisonSide {
  std::vector<std::uint64_t> seeds;
  int unfinished = 0;  // experiments that diverged or failed
  double mean = 0;
  std::vector<double> values;  // of the metric, one for each seed
  Count solved;                // seeds with a sequence accuracy of kSolved or more
  Learned learned;             // in distribution
};

struct ComparisonRow {
  size_t candidate = 0;  // its index
  std::string task, encoding, candidate_encoding, split;
  SplitKind kind = SplitKind::in_distribution;
  ComparisonSide before, after;      // the baseline and the candidate
  bool in_pairs = false;             // a paired test; then both sides have the same seeds
  bool identical = false;            // both sides have the same seeds, and the results of each seed are equal
  double difference = 0;             // of the means, after - before
  std::optional<double> noise;       // moderated standard deviation of one accuracy, or of one pair's difference
  std::optional<Interval> interval;  // 95 % interval of the difference, with that noise
  std::optional<Interval> unmoderated_interval;  // 95 % interval with the noise of this row alone
  /// The exact p-value of this split, by the maximum over the splits of its task and encoding: before the
  /// correction over tasks and encodings, and after it. Both are empty with too few seeds.
  std::optional<double> p, p_corrected;
  /// The smallest difference that these seeds find with a power of 80 %, assuming normal noise.
  std::optional<double> detectable;
  Verdict verdict = Verdict::inconclusive;
};

/// Experiments of a task and an encoding that only one side has.
struct UnmatchedExperiments {
  size_t candidate = 0;      // the one compared
  bool in_baseline = false;  // the baseline has them; otherwise the candidate
  std::string task, encoding;
  std::vector<std::uint64_t> seeds;
};

struct Comparison {
  CompareOptions options;
  std::string baseline;
  std::vector<std::string> candidates;
  std::vector<ComparisonRow> rows;  // by candidate; then as the baseline lists tasks, encodings and splits
  size_t tests = 0;                 // tasks and encodings with a p-value, which are corrected for
  std::vector<UnmatchedExperiments> one_sided;
  std::vector<std::string> warnings;
};

}  // namespace posbench
