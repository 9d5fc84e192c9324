// Variances of few values each, moderated by what all of them say of one. Smyth 2004, Statistical Applications in
// Genetics and Molecular Biology 3(1), article 3, equations 4 and section 6.2; the R package limma.
#pragma once
#include <span>

namespace posbench {

/// A scaled inverse chi-squared prior of the variances: worth as many degrees of freedom as `freedom` says, which
/// is infinite where the variances differ by no more than chance.
struct VariancePrior {
  double variance = 0, freedom = 0;
};

/// Fitted by the mean and the variance of the variances' logarithms. `freedom`: of each variance, 1 or more.
/// Variances below 1e-5 of their median count as that much. A prior worth nothing where there are fewer than two.
VariancePrior fit_variance_prior(std::span<const double> variances, std::span<const double> freedom);

/// The variance that stands between the prior and what was found, weighted by their degrees of freedom.
double moderated(const VariancePrior&, double variance, double freedom);

}  // namespace posbench
