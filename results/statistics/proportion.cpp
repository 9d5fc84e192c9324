#include "results/statistics/proportion.h"

#include <algorithm>
#include <boost/math/special_functions/beta.hpp>
#include <cassert>
#include <cmath>
#include <cstddef>
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

Interval bounded_mean_interval(std::span<const double> values) {
  assert(values.size() >= 2);
  std::vector<double> ascending(values.begin(), values.end());
  std::ranges::sort(ascending);
  // Many splits have the same values: every answer right, or none.
  thread_local Memo<std::vector<double>, Interval> known(1 << 16);
  return known.get(ascending, [&] {
    std::vector<double> wrong;
    for (const double value : ascending) wrong.push_back(1 - value);
    std::ranges::reverse(wrong);
    return Interval{mean_at_least(ascending), 1 - mean_at_least(wrong)};
  });
}

}  // namespace posbench
