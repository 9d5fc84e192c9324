// Moderates variances of few values each by empirical Bayes. Smyth 2004, Statistical Applications in Genetics and
// Molecular Biology 3(1), article 3, equations 4 and section 6.2; the R package limma.
#pragma once
#include <span>

namespace posbench {

/// A scaled inverse chi-squared prior of the variances, with `freedom` degrees of freedom: infinite if the
/// variances differ by no more than chance.
struct VariancePrior {
  double variance = 0, freedom = 0;
};

/// Fits the prior by the mean and the variance of the variances' logarithms. `freedom`: of each variance, 1 or
/// more. Variances below 1e-5 of their median count as that much. With fewer than two variances the prior has no
/// weight.
VariancePrior fit_variance_prior(std::span<const double> variances, std::span<const double> freedom);

/// Returns the mean of the prior's and the observed variance, weighted by their degrees of freedom.
double moderate_variance(const VariancePrior&, double variance, double freedom);

}  // namespace posbench
