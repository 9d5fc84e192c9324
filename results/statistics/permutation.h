// Provides exact permutation tests. If nothing changed, every assignment of the labels baseline and candidate is
// equally likely.
//
// The null hypothesis is that nothing changed on any split of one task with one encoding. Its statistic is the
// maximum over the splits of |mean difference| in standard errors, where the variance is that of all values of
// both labels. So its distribution over the relabelings is exact for any distribution of the values, also for
// seeds that either solve a task or do not. Pitman 1937; Westfall and Young 1993, Resampling-Based Multiple
// Testing.
//
// Many hypotheses are corrected by Holm's method (1979), adapted to discrete tests (Tarone 1990, Biometrics 46(2);
// Westfall and Wolfinger 1997, The American Statistician 51(1)): Holm multiplies a p-value by the number of
// remaining tests. Here each remaining test adds only the probability that its own statistic is at least as large.
// The sum is a bound for any dependence between the tests. Holm's count would leave no power with five seeds:
// their smallest p-value is 2 in 252, and multiplied by 49 tests it exceeds 0.05.
#pragma once
#include <span>
#include <vector>

#include "results/statistics/statistics.h"

namespace posbench {

/// The accuracies on one split, of the baseline (`before`) and of the candidate (`after`), one for each seed.
struct SplitValues {
  std::vector<double> before, after;
  double least_variance = 0;  // lower bound for one value, or one difference of a pair: the rounding to counts
};

/// The permutation distribution of one hypothesis.
struct PermutationDistribution {
  std::vector<double> statistics;  // of each split
  std::vector<double> maxima;      // over the splits, for each relabeling; ascending

  double statistic() const;  // the maximum over the splits
  /// Returns the fraction of relabelings with a maximum of `statistic` or more.
  double p(double statistic) const;
};

/// Returns the distribution over relabelings. All splits have the same seeds. In pairs, the two values of one
/// seed stay together, and a relabeling swaps them in some pairs. The distribution is over all relabelings if
/// there are at most 10,000, otherwise over 10,000 random ones, of which one is the true labeling (Phipson and
/// Smyth 2010, arXiv:1603.05766).
PermutationDistribution relabel(std::span<const SplitValues>, bool in_pairs);

/// Returns the p-value of the hypothesis that all groups have the same distribution, by the difference between the
/// greatest and the least of their means, over 1000 relabelings. `stream` names the random ones.
double range_p(std::span<const std::vector<double>* const> groups, const char* stream);

/// Returns for each hypothesis the corrected p-value of each of its splits.
std::vector<std::vector<double>> corrected_p(std::span<const PermutationDistribution>);

/// Returns the smallest statistic whose p-value, corrected for all the hypotheses, is alpha or less; infinite if
/// there is none.
double critical_statistic(std::span<const PermutationDistribution>, double alpha);

}  // namespace posbench
