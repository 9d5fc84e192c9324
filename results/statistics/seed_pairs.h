// Compares the seeds of two encodings without an assumption about their distributions, which may be bimodal.
//
// The quantity is a fraction of pairs: the probability that a random seed of one encoding exceeds a random seed of
// the other by more than a bound. If it is above one half, the median of the differences between seeds is above
// the bound. A test of the means would need far more seeds: eight seeds allow that a third of all seeds differ
// from them, by as much as the whole range (docs/reading.md has figures).
//
// The statistic is the fraction u among all pairs of n and m observed seeds. It is the mean, over random
// matchings, of the fraction among k = min(n, m) pairs without a common seed, and that one is binomial. So u is
// smaller in the convex order (Hoeffding 1963, section 5), and for any t < u
//   P(fraction >= u) <= E max(B / k - t, 0) / (u - t),   B binomial with k trials and the tested probability,
// for any two distributions. If all pairs agree, this is 2^-k for the probability 1/2, which no valid test can
// improve. It assumes that all seeds are independent and that their number does not depend on their results.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "results/statistics/statistics.h"

namespace posbench {

/// The differences between all seeds of one encoding and all of another.
class SeedPairs {
 public:
  SeedPairs(std::span<const double> high, std::span<const double> low);

  /// Returns the fraction of pairs whose difference is above, or below, a bound. Equality counts for neither.
  double above(double bound) const;
  double below(double bound) const;
  /// Returns the p-value of the hypothesis that at most half of all pairs are above, or below, the bound.
  double p_above(double bound) const;
  double p_below(double bound) const;
  /// Returns the 95 % interval of the fraction of all pairs that are above the bound.
  Interval fraction_above(double bound) const;

  double median() const;
  /// Returns the 95 % interval of the median; the whole range [-1, 1] with five seeds or fewer.
  Interval median_interval() const;

 private:
  std::vector<double> differences_;  // ascending
  size_t matched_ = 0;               // k
};

/// Returns the p-value of the hypothesis that the fraction of all pairs is at most `hypothesis`, if it is `found`
/// among those of two groups of `seeds` seeds.
double pairs_p(double found, size_t seeds, double hypothesis = 0.5);

}  // namespace posbench
