#include "results/statistics/moderated_variance.h"

#include <algorithm>
#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/trigamma.hpp>
#include <boost/math/tools/toms748_solve.hpp>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "results/statistics/statistics.h"

namespace posbench {
namespace {

/// Returns the x at which trigamma(x) is y. Trigamma lies between 1 / x and 1 / x + 1 / x^2.
double inverse_trigamma(double y) {
  const double low = 1 / y, high = 0.5 / y + std::sqrt(0.25 / (y * y) + 1 / y);
  std::uintmax_t steps = 100;
  const auto excess = [y](double x) { return boost::math::trigamma(x) - y; };
  const auto [a, b] = boost::math::tools::toms748_solve(excess, 0.999 * low, 1.001 * high,
                                                        boost::math::tools::eps_tolerance<double>(45), steps);
  return (a + b) / 2;
}

}  // namespace

VariancePrior fit_variance_prior(std::span<const double> variances, std::span<const double> freedom) {
  assert(variances.size() == freedom.size());
  if (variances.size() < 2) return {};
  std::vector<double> sorted(variances.begin(), variances.end());
  std::ranges::sort(sorted);
  const size_t n = sorted.size();
  const double median = 0.5 * (sorted[(n - 1) / 2] + sorted[n / 2]);
  if (median == 0) return {};
  std::vector<double> logs, noise;
  for (size_t i = 0; i < n; ++i) {
    const double half = freedom[i] / 2;
    logs.push_back(std::log(std::max(variances[i], 1e-5 * median)) - boost::math::digamma(half) + std::log(half));
    noise.push_back(boost::math::trigamma(half));
  }
  const double middle = mean(logs);
  double spread = 0;
  for (const double log : logs) spread += (log - middle) * (log - middle) / static_cast<double>(n - 1);
  spread -= mean(noise);
  if (spread <= 0) return {std::exp(middle), std::numeric_limits<double>::infinity()};
  const double half = inverse_trigamma(spread);
  return {std::exp(middle + boost::math::digamma(half) - std::log(half)), 2 * half};
}

double moderate_variance(const VariancePrior& prior, double variance, double freedom) {
  if (std::isinf(prior.freedom)) return prior.variance;
  return (prior.freedom * prior.variance + freedom * variance) / (prior.freedom + freedom);
}

}  // namespace posbench
