// Provides statistics of few seeds that either solve a task or do not: fractions, and means of few accuracies.
#pragma once
#include <span>

#include "results/statistics/statistics.h"

namespace posbench {

/// Returns the 95 % interval of a binomial proportion, with at least that coverage for any number of trials; [0,
/// 1] without trials. Clopper and Pearson 1934, Biometrika 26(4).
Interval clopper_pearson_interval(Count);

/// Returns the 95 % interval of the mean of a distribution over [0, 1], from two values or more. It assumes no
/// shape: for values that are all 0 or 1 it is Clopper and Pearson's interval, and if all values are equal it
/// still has a width. Gaffke 2005 (Preprint 05-15, University of Magdeburg); Learned-Miller and Thomas 2019,
/// arXiv:1905.06208.
Interval bounded_mean_interval(std::span<const double>);

}  // namespace posbench
