#include "results/statistics/seed_pairs.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

namespace posbench {
namespace {

constexpr double kStoredRounding = 1e-6;  // stored accuracies have six decimals
constexpr double kOneTail = 0.025;

/// Returns the greatest fraction that the p-value refutes at the level of kOneTail; 0 if there is none.
double refuted_fraction(double found, size_t seeds) {
  double low = 0, high = found;
  if (found <= 0) return 0;
  for (int i = 0; i < 30; ++i) {
    const double middle = (low + high) / 2;
    (pairs_p(found, seeds, middle) <= kOneTail ? low : high) = middle;
  }
  return low;
}

}  // namespace

double pairs_p(double found, size_t seeds, double hypothesis) {
  if (found <= hypothesis) return 1;
  const auto k = static_cast<double>(seeds);
  // The bound is the quotient of two functions that are linear in t between multiples of 1 / k, so the least value
  // is at one of these.
  double least = 1, tail = 0, excess = 0;        // P(B > j) and E max(B - j, 0), summed from the greatest j down
  double probability = std::pow(hypothesis, k);  // P(B = j + 1)
  for (double j = k - 1; j >= 0; --j) {
    tail += probability;
    excess += tail;
    const double room = found * k - j;
    if (room > 0) least = std::min(least, excess / room);
    probability *= (j + 1) / (k - j) * (1 - hypothesis) / hypothesis;
  }
  return least;
}

SeedPairs::SeedPairs(std::span<const double> high, std::span<const double> low)
    : matched_(std::min(high.size(), low.size())) {
  assert(matched_ > 0);
  for (const double a : high) {
    for (const double b : low) differences_.push_back(a - b);
  }
  std::ranges::sort(differences_);
}

double SeedPairs::above(double bound) const {
  const auto first = std::ranges::upper_bound(differences_, bound + kStoredRounding);
  return static_cast<double>(differences_.end() - first) / static_cast<double>(differences_.size());
}

double SeedPairs::below(double bound) const {
  const auto end = std::ranges::lower_bound(differences_, bound - kStoredRounding);
  return static_cast<double>(end - differences_.begin()) / static_cast<double>(differences_.size());
}

double SeedPairs::p_above(double bound) const { return pairs_p(above(bound), matched_); }

double SeedPairs::p_below(double bound) const { return pairs_p(below(bound), matched_); }

Interval SeedPairs::fraction_above(double bound) const {
  const double found = above(bound);
  return {refuted_fraction(found, matched_), 1 - refuted_fraction(1 - found, matched_)};
}

double SeedPairs::median() const {
  const size_t half = differences_.size() / 2;
  return differences_.size() % 2 == 1 ? differences_[half] : (differences_[half - 1] + differences_[half]) / 2;
}

Interval SeedPairs::median_interval() const {
  const size_t all = differences_.size();
  const auto is_enough = [&](size_t pairs) {
    return pairs_p(static_cast<double>(pairs) / static_cast<double>(all), matched_) <= kOneTail;
  };
  if (!is_enough(all)) return {-1, 1};
  size_t few = all / 2, enough = all;  // the p-value falls with the number of pairs
  while (enough - few > 1) {
    const size_t middle = (few + enough) / 2;
    (is_enough(middle) ? enough : few) = middle;
  }
  return {differences_[all - enough], differences_[enough - 1]};
}

}  // namespace posbench
