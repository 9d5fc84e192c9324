#include "results/statistics/proportion.h"

#include <algorithm>
#include <array>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/special_functions/beta.hpp>
#include <boost/math/tools/minima.hpp>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace posbench {
namespace {

/// Remembers the results of a function that is often called with the same arguments. If there are more than `most`
/// results, all are forgotten.
template <class Key, class Value>
class Memo {
 public:
  explicit Memo(size_t most) : most_(most) {}

  /// Returns the result for the key, which `compute` returns. The reference is valid until the next call.
  template <class Compute>
  const Value& get(const Key& key, Compute compute) {
    const auto found = known_.find(key);
    if (found != known_.end()) return found->second;
    if (known_.size() == most_) known_.clear();
    return known_.emplace(key, compute()).first->second;
  }

 private:
  size_t most_;
  std::map<Key, Value> known_;
};

/// Returns log(0!), ..., log(n!). The long double leaves probabilities with errors far below one_sided_boschloo's
/// tolerance.
std::vector<long double> log_factorials(std::int64_t n) {
  std::vector<long double> logs{0};
  for (std::int64_t i = 1; i <= n; ++i) logs.push_back(logs.back() + std::log(static_cast<long double>(i)));
  return logs;
}

/// Computes Fisher's one-sided p-value of tables with the same totals: the probability of this many successes or
/// more in the first group, given the successes of both.
class FisherTest {
 public:
  FisherTest(std::int64_t first, std::int64_t second)
      : first_(first), second_(second), log_factorials_(log_factorials(first + second)) {}

  double p(std::int64_t of_first, std::int64_t of_second) const {
    const std::int64_t all = of_first + of_second;
    const std::int64_t mode = (all + 1) * (first_ + 1) / (first_ + second_ + 2);
    // The sum is over the side without the mode. Its terms fall, so a term of 0 ends it.
    double sum = 0;
    if (of_first > mode) {
      double term = probability(of_first, all);
      for (std::int64_t k = of_first; k <= std::min(first_, all) && term > 0; ++k) {
        sum += term;
        term *= ratio((first_ - k) * (all - k), (k + 1) * (second_ - all + k + 1));
      }
      return sum;
    }
    const std::int64_t least = std::max<std::int64_t>(0, all - second_);
    double term = of_first > least ? probability(of_first - 1, all) : 0;
    for (std::int64_t k = of_first - 1; k >= least && term > 0; --k) {
      sum += term;
      term *= ratio(k * (second_ - all + k), (first_ - k + 1) * (all - k + 1));
    }
    return 1 - sum;
  }

 private:
  static double ratio(std::int64_t a, std::int64_t b) { return static_cast<double>(a) / static_cast<double>(b); }

  long double log_choices(std::int64_t n, std::int64_t k) const {
    const auto log_factorial = [&](std::int64_t i) { return log_factorials_[static_cast<size_t>(i)]; };
    return log_factorial(n) - log_factorial(k) - log_factorial(n - k);
  }

  /// Returns the probability of exactly k successes in the first group, given those of both.
  double probability(std::int64_t k, std::int64_t all) const {
    return static_cast<double>(
        std::exp(log_choices(first_, k) + log_choices(second_, all - k) - log_choices(first_ + second_, all)));
  }

  std::int64_t first_, second_;
  std::vector<long double> log_factorials_;
};

/// Returns the probabilities of 0 .. n successes.
std::vector<double> binomial(std::int64_t n, double rate) {
  const boost::math::binomial successes(static_cast<double>(n), rate);
  std::vector<double> p;
  for (std::int64_t k = 0; k <= n; ++k) p.push_back(pdf(successes, static_cast<double>(k)));
  return p;
}

constexpr int kGrid = 200;
using GridRow = std::array<double, kGrid + 1>;  // a value at each rate 0 / kGrid, ..., kGrid / kGrid

/// Returns the probabilities of 0 .. n successes, each at all rates of the grid.
std::vector<GridRow> binomial_on_grid(std::int64_t n) {
  std::vector<GridRow> rows(static_cast<size_t>(n) + 1);
  for (size_t i = 0; i <= kGrid; ++i) {
    const std::vector<double> p = binomial(n, static_cast<double>(i) / kGrid);
    for (size_t k = 0; k < p.size(); ++k) rows[k][i] = p[k];
  }
  return rows;
}

/// The tables that are at least as extreme as the observed one: of x successes in the first group those with fewer
/// than fewer_than[x] in the second.
struct ExtremeTables {
  std::vector<size_t> fewer_than;

  /// Calls f with the successes of both groups of each table.
  template <class F>
  void each(F f) const {
    for (size_t x = 0; x < fewer_than.size(); ++x) {
      for (size_t y = 0; y < fewer_than[x]; ++y) f(x, y);
    }
  }
};

/// Finds the tables whose p-value by Fisher is at most that of the observed one. The p-value rises with the
/// successes of the second group and falls with those of the first, so for each x the loop continues from the last
/// y.
ExtremeTables find_extreme_tables(Count a, Count b) {
  const FisherTest test(a.total, b.total);
  const double observed = test.p(a.correct, b.correct) * (1 + 1e-9);
  ExtremeTables tables;
  std::int64_t y = 0;
  for (std::int64_t x = 0; x <= a.total; ++x) {
    while (y <= b.total && test.p(x, y) <= observed) ++y;
    tables.fewer_than.push_back(static_cast<size_t>(y));
  }
  return tables;
}

/// Returns the one-sided p-value that the first group succeeds more often: the largest probability, over all
/// common rates of success, of a table whose p-value by Fisher is at most that of this one. It is the best point
/// of a grid, refined.
double one_sided_boschloo(Count a, Count b) {
  const ExtremeTables extreme = find_extreme_tables(a, b);
  const std::vector<GridRow> on_grid_a = binomial_on_grid(a.total), on_grid_b = binomial_on_grid(b.total);
  GridRow sums{};
  extreme.each([&](size_t x, size_t y) {
    for (size_t i = 0; i <= kGrid; ++i) sums[i] += on_grid_a[x][i] * on_grid_b[y][i];
  });
  const auto best = static_cast<int>(std::max_element(sums.begin(), sums.end()) - sums.begin());
  const auto negative = [&](double rate) {
    const std::vector<double> of_a = binomial(a.total, rate), of_b = binomial(b.total, rate);
    double p = 0;
    extreme.each([&](size_t x, size_t y) { p += of_a[x] * of_b[y]; });
    return -p;
  };
  const double low = std::max(0, best - 1) / double{kGrid}, high = std::min(kGrid, best + 1) / double{kGrid};
  return -boost::math::tools::brent_find_minima(negative, low, high, 40).second;
}

constexpr size_t kDraws = 10000;

/// Draws n ordered uniform numbers many times, always the same. They and the ends of [0, 1] have n + 1 gaps. Tail
/// i is the sum of all gaps but the first i + 1.
class GapTails {
 public:
  explicit GapTails(size_t n) : tails_(n * kDraws) {
    Rng rng = make_rng(n, "bounded mean");
    std::vector<double> gaps(n + 1);
    for (size_t draw = 0; draw < kDraws; ++draw) {
      double sum = 0, tail = 0;
      for (double& gap : gaps) sum += gap = -std::log1p(-uniform_real(rng));
      for (size_t i = n; i-- > 0;) tails_[i * kDraws + draw] = tail += gaps[i + 1] / sum;
    }
  }
  /// Returns tail i of each draw.
  std::span<const double> operator[](size_t i) const { return std::span(tails_).subspan(i * kDraws, kDraws); }

 private:
  std::vector<double> tails_;
};

/// Returns the value of this rank, counted from 0, in ascending order.
double value_of_rank(std::vector<double>& values, size_t rank) {
  const auto nth = [](std::vector<double>& x, size_t n) {
    const auto at = x.begin() + static_cast<std::ptrdiff_t>(n);
    std::nth_element(x.begin(), at, x.end());
    return *at;
  };
  // Most values are above a bound from the first tenth, which has the rank with certainty almost always.
  const size_t part = values.size() / 10;
  std::vector<double> some(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(part));
  const double bound = nth(some, std::min(part - 1, rank / 10 + 20));
  std::vector<double> low(values.size());
  size_t count = 0;
  for (const double value : values) {
    low[count] = value;
    count += value <= bound;
  }
  if (count <= rank) return nth(values, rank);
  low.resize(count);
  return nth(low, rank);
}

/// Returns a lower bound of the mean with probability 0.975. With values z_1 <= ... <= z_n and z_0 = 0 it is the
/// 2.5 % quantile of sum_i gap_i z_i, which is the sum of (z_i - z_{i-1}) tail_{i-1}: equal values need one term.
double mean_at_least(std::span<const double> ascending) {
  thread_local Memo<size_t, GapTails> known(4);  // few reports have more numbers of seeds
  const GapTails& tails = known.get(ascending.size(), [&] { return GapTails(ascending.size()); });
  std::vector<double> sums(kDraws);
  double before = 0;
  for (size_t i = 0; i < ascending.size(); ++i) {
    const double rise = ascending[i] - before;
    if (rise == 0) continue;
    const std::span<const double> tail = tails[i];
    for (size_t draw = 0; draw < kDraws; ++draw) sums[draw] += rise * tail[draw];
    before = ascending[i];
  }
  return value_of_rank(sums, kDraws / 40);
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
  thread_local Memo<std::array<std::int64_t, 4>, double> known(1 << 16);
  return known.get({a.correct, a.total, b.correct, b.total}, [&] {
    return std::min(1.0, 2 * std::min(one_sided_boschloo(a, b), one_sided_boschloo(b, a)));
  });
}

Interval bounded_mean_interval(std::span<const double> values) {
  assert(values.size() >= 2);
  std::vector<double> ascending(values.begin(), values.end());
  std::sort(ascending.begin(), ascending.end());
  // Many splits have the same values: every answer right, or none.
  thread_local Memo<std::vector<double>, Interval> known(1 << 16);
  return known.get(ascending, [&] {
    std::vector<double> wrong;
    for (const double value : ascending) wrong.push_back(1 - value);
    std::reverse(wrong.begin(), wrong.end());
    return Interval{mean_at_least(ascending), 1 - mean_at_least(wrong)};
  });
}

}  // namespace posbench
