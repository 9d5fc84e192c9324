#include "results/statistics/tiers.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "results/statistics/compare.h"
#include "results/statistics/permutation.h"
#include "results/statistics/statistics.h"

namespace posbench {
namespace {

constexpr double kAlpha = 0.05;
constexpr double kEqualDifference = 1e-9;  // of differences that are equal up to rounding

/// Returns true for each rejected hypothesis, with a false discovery rate of kAlpha.
std::vector<bool> benjamini_hochberg(const std::vector<double>& p) {
  std::vector<size_t> order(p.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, [&](size_t a, size_t b) { return p[a] < p[b]; });
  size_t rejected = 0;
  for (size_t n = 0; n < order.size(); ++n) {
    if (p[order[n]] <= kAlpha * static_cast<double>(n + 1) / static_cast<double>(p.size())) rejected = n + 1;
  }
  std::vector<bool> result(p.size());
  for (size_t n = 0; n < rejected; ++n) result[order[n]] = true;
  return result;
}

/// Returns for each encoding but the first, which is the best, true if it differs significantly from the best.
std::vector<bool> differ_from_best(const std::vector<const std::vector<double>*>& left) {
  std::vector<double> p;
  for (size_t n = 1; n < left.size(); ++n) {
    const PermutationDistribution test = relabel(std::vector{SplitValues{*left[n], *left[0]}}, false);
    p.push_back(test.p(test.statistic()));
  }
  std::vector<bool> differ = benjamini_hochberg(p);
  const bool any = std::ranges::find(differ, true) != differ.end();
  if (any && range_p(left, "tiers") > kAlpha) differ.assign(differ.size(), false);
  for (size_t n = 1; n < left.size(); ++n)
    differ[n - 1] = differ[n - 1] && mean(*left[0]) - mean(*left[n]) >= kTierDifference - kEqualDifference;
  return differ;
}

}  // namespace

std::vector<std::optional<int>> find_tiers(std::span<const std::vector<double>> values) {
  std::vector<size_t> left;
  for (size_t n = 0; n < values.size(); ++n) {
    if (values[n].size() >= kEnoughSeeds) left.push_back(n);
  }
  std::ranges::stable_sort(left, [&](size_t a, size_t b) { return mean(values[a]) > mean(values[b]); });
  std::vector<std::optional<int>> tiers(values.size());
  for (int tier = 1; !left.empty(); ++tier) {
    std::vector<const std::vector<double>*> of_left;
    for (const size_t n : left) of_left.push_back(&values[n]);
    const std::vector<bool> differ = differ_from_best(of_left);
    std::vector<size_t> rest;
    for (size_t n = 0; n < left.size(); ++n) {
      if (n > 0 && differ[n - 1]) {
        rest.push_back(left[n]);
      } else {
        tiers[left[n]] = tier;
      }
    }
    left = std::move(rest);
  }
  return tiers;
}

}  // namespace posbench
