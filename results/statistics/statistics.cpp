#include "results/statistics/statistics.h"

#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/non_central_t.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <boost/math/tools/toms748_solve.hpp>
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>

namespace posbench {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

double t_quantile_two_sided(size_t values, double alpha) {
  const boost::math::students_t t(static_cast<double>(values - 1));
  return boost::math::quantile(boost::math::complement(t, alpha / 2));
}

Interval around(double middle, double half) { return {middle - half, middle + half}; }

}  // namespace

Interval wilson(Count count) {
  if (count.total == 0) return {0, 1};
  constexpr double kZ = 1.959963984540054;  // the 97.5 % quantile of the normal distribution
  const double n = static_cast<double>(count.total), p = accuracy(count), z2 = kZ * kZ;
  const double middle = (p + z2 / (2 * n)) / (1 + z2 / n);
  const double half = kZ / (1 + z2 / n) * std::sqrt(p * (1 - p) / n + z2 / (4 * n * n));
  return {std::max(0.0, middle - half), std::min(1.0, middle + half)};
}

double mean(std::span<const double> values) {
  return values.empty() ? kNaN
                        : std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double standard_deviation(std::span<const double> values) {
  if (values.size() < 2) return kNaN;
  const double middle = mean(values);
  double squares = 0;
  for (const double value : values) squares += (value - middle) * (value - middle);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

std::optional<Interval> t_interval(std::span<const double> values) {
  return paired_t_test(values).interval;  // a mean is the mean difference from 0
}

PairedTest paired_t_test(std::span<const double> differences, double resolution) {
  PairedTest test{.difference = mean(differences)};
  const size_t n = differences.size();
  if (n < 2) return test;
  test.deviation = std::max(standard_deviation(differences), resolution / std::sqrt(6.0));
  const double error = *test.deviation / std::sqrt(static_cast<double>(n));
  test.interval = around(test.difference, t_quantile_two_sided(n, 0.05) * error);
  test.p = t_test_p(test.difference, *test.deviation, static_cast<int>(n));
  return test;
}

double t_test_p(double difference, double deviation, int pairs) {
  assert(pairs >= 2);
  if (deviation == 0) return difference == 0 ? 1 : 0;
  const boost::math::students_t t(pairs - 1);
  return 2 * cdf(complement(t, std::abs(difference) / deviation * std::sqrt(static_cast<double>(pairs))));
}

double detectable_effect(int pairs, double alpha) {
  assert(pairs >= 2 && alpha > 0 && alpha < 1);
  constexpr double kPower = 0.8;
  const double freedom = pairs - 1, critical = t_quantile_two_sided(static_cast<size_t>(pairs), alpha);
  // The noncentral t is (Z + noncentrality) / sqrt(chi^2 / freedom). Far out Z, of size 1, no longer matters, and
  // Boost's series takes too many terms.
  constexpr double kFar = 1000;
  double noncentrality = 0;
  if (critical > kFar) {
    noncentrality = critical * std::sqrt(quantile(boost::math::chi_squared(freedom), kPower) / freedom);
  } else {
    const auto excess = [&](double center) {
      const boost::math::non_central_t t(freedom, center);
      return cdf(complement(t, critical)) + cdf(t, -critical) - kPower;
    };
    std::uintmax_t steps = 100;
    const auto [low, high] = boost::math::tools::toms748_solve(
        excess, 0.0, 2 * critical + 3, boost::math::tools::eps_tolerance<double>(40), steps);
    noncentrality = (low + high) / 2;
  }
  return noncentrality / std::sqrt(static_cast<double>(pairs));
}

std::vector<double> holm(std::span<const double> p) {
  std::vector<size_t> ascending(p.size());
  std::iota(ascending.begin(), ascending.end(), 0);
  std::stable_sort(ascending.begin(), ascending.end(), [&](size_t a, size_t b) { return p[a] < p[b]; });
  std::vector<double> adjusted(p.size());
  double largest = 0;
  for (size_t i = 0; i < ascending.size(); ++i) {
    largest = std::max(largest, std::min(1.0, static_cast<double>(p.size() - i) * p[ascending[i]]));
    adjusted[ascending[i]] = largest;
  }
  return adjusted;
}

std::vector<int> resample(Rng& rng, int count) { return uniform_tokens(rng, count, 0, count - 1); }

Interval percentile_interval(std::vector<double> draws) {
  if (draws.empty()) return {kNaN, kNaN};
  std::sort(draws.begin(), draws.end());
  const auto quantile = [&](double share) {
    const double place = share * static_cast<double>(draws.size() - 1);
    const auto below = static_cast<size_t>(place);
    const size_t above = std::min(below + 1, draws.size() - 1);
    return std::lerp(draws[below], draws[above], place - static_cast<double>(below));
  };
  return {quantile(0.025), quantile(0.975)};
}

}  // namespace posbench
