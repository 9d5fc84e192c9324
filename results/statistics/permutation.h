// Exact tests by relabelling: if nothing changed, every way to name the seeds before and after was equally likely.
//
// A hypothesis says that nothing changed on any split of one task with one encoding. Its statistic is the greatest
// over the splits of |mean difference| in standard errors, where the variance is that of all values, whatever
// their label. So its distribution over the relabellings is exact whatever the values are distributed like, and
// seeds that solve a task or do not are no special case. Pitman 1937; Westfall and Young 1993, Resampling-Based
// Multiple Testing.
//
// Many hypotheses are corrected as by Holm 1979, with what is known of discrete tests (Tarone 1990, Biometrics
// 46(2); Westfall and Wolfinger 1997, The American Statistician 51(1)): where Holm counts each hypothesis that is
// left as likely to err as this one, each counts here with the probability that its own statistic becomes as
// great. The sum is a bound whatever depends on what. Holm's own count would leave five seeds nothing to find:
// their smallest p-value is 2 in 252, and 49 times that is no longer small.
#pragma once
#include <span>
#include <vector>

#include "results/statistics/statistics.h"

namespace posbench {

/// One split before and after: an accuracy for each seed.
struct SplitValues {
  std::vector<double> before, after;
  double least_variance = 0;  // of one value (of one difference, in pairs): what rounding to counts adds
};

/// What relabelling says of one hypothesis.
struct Relabelled {
  std::vector<double> statistics;  // of each split
  std::vector<double> maxima;      // over the splits, for each relabelling; ascending

  double statistic() const;  // the greatest of all splits
  /// The fraction of relabellings with a maximum of `statistic` or more.
  double p(double statistic) const;
};

/// All splits have the same seeds. In pairs, before and after of one seed stay together, and each pair may be
/// turned round. All relabellings where there are no more than 10,000, otherwise 10,000 of them at random, of
/// which one is the true one (Phipson and Smyth 2010, arXiv:1603.05766).
Relabelled relabel(std::span<const SplitValues>, bool in_pairs);

/// The probability, over the relabellings, that the mean of `high` exceeds that of `low` by as much as it does, if
/// the one lies `shift` above the other: of the hypothesis that it lies no farther above.
double shift_p(std::span<const double> low, std::span<const double> high, double shift);

/// The shifts that neither direction refutes at 2.5 %: a 95 % interval of the difference of the means.
Interval shift_interval(std::span<const double> low, std::span<const double> high);

/// For each hypothesis, the corrected p-value of each of its splits.
std::vector<std::vector<double>> corrected_p(std::span<const Relabelled>);

/// The smallest statistic whose p-value, corrected for all the hypotheses, would be alpha or less; infinite where
/// none would.
double critical_statistic(std::span<const Relabelled>, double alpha);

}  // namespace posbench
