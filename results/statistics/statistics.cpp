#include "results/statistics/statistics.h"

#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/non_central_t.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <boost/math/tools/toms748_solve.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

namespace posbench {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

}  // namespace

Interval wilson_interval(Count count, double z) {
  if (count.total == 0) return {0, 1};
  const double n = static_cast<double>(count.total), p = accuracy(count), z2 = z * z;
  const double middle = (p + z2 / (2 * n)) / (1 + z2 / n);
  const double half = z / (1 + z2 / n) * std::sqrt(p * (1 - p) / n + z2 / (4 * n * n));
  // Without a right or without a wrong case an end is exactly 0 or 1, which the rounding of the difference misses.
  return {count.correct == 0 ? 0 : middle - half, count.correct == count.total ? 1 : middle + half};
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
  if (values.size() < 2) return std::nullopt;
  const double n = static_cast<double>(values.size()), middle = mean(values);
  const double half = t_half_width(n - 1) * standard_deviation(values) / std::sqrt(n);
  return Interval{middle - half, middle + half};
}

double t_half_width(double freedom) {
  return boost::math::quantile(boost::math::complement(boost::math::students_t(freedom), 0.025));
}

double detectable_noncentrality(double critical, double freedom) {
  constexpr double kPower = 0.8;
  // The noncentral t is (Z + noncentrality) / sqrt(chi^2 / freedom). If the noncentrality is large, Z, of size 1,
  // can be neglected, and Boost's series takes too many terms.
  constexpr double kFar = 1000;
  if (critical > kFar) return critical * std::sqrt(quantile(boost::math::chi_squared(freedom), kPower) / freedom);
  const auto excess = [&](double center) {
    const boost::math::non_central_t t(freedom, center);
    return cdf(complement(t, critical)) + cdf(t, -critical) - kPower;
  };
  std::uintmax_t steps = 100;
  const auto [low, high] = boost::math::tools::toms748_solve(excess, 0.0, 2 * critical + 3,
                                                             boost::math::tools::eps_tolerance<double>(40), steps);
  return (low + high) / 2;
}

std::vector<int> resample_indices(Rng& rng, int count) { return uniform_tokens(rng, count, 0, count - 1); }

Interval percentile_interval(std::vector<double> draws) {
  if (draws.empty()) return {kNaN, kNaN};
  std::sort(draws.begin(), draws.end());
  const auto quantile = [&](double fraction) {
    const double rank = fraction * static_cast<double>(draws.size() - 1);
    const auto below = static_cast<size_t>(rank);
    const size_t above = std::min(below + 1, draws.size() - 1);
    return std::lerp(draws[below], draws[above], rank - static_cast<double>(below));
  };
  return {quantile(0.025), quantile(0.975)};
}

}  // namespace posbench
