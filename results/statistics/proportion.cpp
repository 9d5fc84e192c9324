#include "results/statistics/proportion.h"

#include <algorithm>
#include <array>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/hypergeometric.hpp>
#include <boost/math/special_functions/beta.hpp>
#include <boost/math/tools/minima.hpp>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <utility>
#include <vector>

namespace posbench {
namespace {

/// Returns Fisher's one-sided p-value: the probability of this many successes or more in the first group, given
/// the total.
double fisher(Count a, Count b) {
  const std::int64_t successes = a.correct + b.correct;
  const boost::math::hypergeometric_distribution<> of_first(
      static_cast<unsigned>(successes), static_cast<unsigned>(a.total), static_cast<unsigned>(a.total + b.total));
  double p = 0;
  for (std::int64_t k = a.correct; k <= std::min(a.total, successes); ++k) {
    p += pdf(of_first, static_cast<unsigned>(k));
  }
  return p;
}

/// Returns the maximum of f over [0, 1]: the best point of a grid, refined.
double maximum(const std::function<double(double)>& f) {
  constexpr int kGrid = 200;
  int best = 0;
  for (int i = 1; i <= kGrid; ++i) {
    if (f(i / double{kGrid}) > f(best / double{kGrid})) best = i;
  }
  const double low = std::max(0, best - 1) / double{kGrid}, high = std::min(kGrid, best + 1) / double{kGrid};
  const auto negative = [&](double x) { return -f(x); };
  return -boost::math::tools::brent_find_minima(negative, low, high, 40).second;
}

/// Returns the probabilities of 0 .. n successes.
std::vector<double> binomial(std::int64_t n, double rate) {
  const boost::math::binomial successes(static_cast<double>(n), rate);
  std::vector<double> p;
  for (std::int64_t k = 0; k <= n; ++k) p.push_back(pdf(successes, static_cast<double>(k)));
  return p;
}

/// Returns the one-sided p-value that the first group succeeds more often: the largest probability, over all
/// common rates of success, of a table whose p-value by Fisher is at most that of this one.
double one_sided_boschloo(Count a, Count b) {
  const double observed = fisher(a, b) * (1 + 1e-9);
  std::vector<std::pair<std::int64_t, std::int64_t>> extreme;
  for (std::int64_t x = 0; x <= a.total; ++x) {
    for (std::int64_t y = 0; y <= b.total; ++y) {
      if (fisher({x, a.total}, {y, b.total}) <= observed) extreme.emplace_back(x, y);
    }
  }
  return maximum([&](double rate) {
    const std::vector<double> of_a = binomial(a.total, rate), of_b = binomial(b.total, rate);
    double p = 0;
    for (const auto& [x, y] : extreme) p += of_a[static_cast<size_t>(x)] * of_b[static_cast<size_t>(y)];
    return p;
  });
}

/// Draws the n + 1 gaps between n ordered uniform numbers and the ends of [0, 1] many times, always the same.
const std::vector<std::vector<double>>& uniform_gaps(size_t n) {
  constexpr int kDraws = 10000;
  thread_local std::map<size_t, std::vector<std::vector<double>>> known;
  std::vector<std::vector<double>>& draws = known[n];
  if (!draws.empty()) return draws;
  Rng rng = make_rng(n, "bounded mean");
  for (int draw = 0; draw < kDraws; ++draw) {
    std::vector<double> gaps(n + 1);
    double sum = 0;
    for (double& gap : gaps) sum += gap = -std::log1p(-uniform_real(rng));
    for (double& gap : gaps) gap /= sum;
    draws.push_back(std::move(gaps));
  }
  return draws;
}

/// Returns a lower bound of the mean with probability 0.975. With values z_1 <= ... <= z_n and z_0 = 0 it is the
/// 2.5 % quantile of sum_i gap_i z_i.
double mean_at_least(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  std::vector<double> sums;
  for (const std::vector<double>& gaps : uniform_gaps(values.size())) {
    double sum = 0;
    for (size_t i = 0; i < values.size(); ++i) sum += gaps[i + 1] * values[i];
    sums.push_back(sum);
  }
  const auto quantile = sums.begin() + static_cast<std::ptrdiff_t>(0.025 * static_cast<double>(sums.size()));
  std::nth_element(sums.begin(), quantile, sums.end());
  return *quantile;
}

}  // namespace

Interval clopper_pearson_interval(Count count) {
  if (count.total == 0) return {0, 1};
  constexpr double kTail = 0.025;
  const double right = static_cast<double>(count.correct), wrong = static_cast<double>(count.total) - right;
  return {right == 0 ? 0 : boost::math::ibeta_inv(right, wrong + 1, kTail),
          wrong == 0 ? 1 : boost::math::ibetac_inv(right + 1, wrong, kTail)};
}

double boschloo_test(Count a, Count b) {
  if (a.total == 0 || b.total == 0) return 1;
  // A comparison uses few different tables, many times.
  thread_local std::map<std::array<std::int64_t, 4>, double> known;
  const auto [p, is_new] = known.try_emplace({a.correct, a.total, b.correct, b.total});
  if (is_new) p->second = std::min(1.0, 2 * std::min(one_sided_boschloo(a, b), one_sided_boschloo(b, a)));
  return p->second;
}

Interval bounded_mean_interval(std::span<const double> values) {
  assert(values.size() >= 2);
  std::vector<double> wrong;
  for (const double value : values) wrong.push_back(1 - value);
  return {mean_at_least({values.begin(), values.end()}), 1 - mean_at_least(std::move(wrong))};
}

}  // namespace posbench
