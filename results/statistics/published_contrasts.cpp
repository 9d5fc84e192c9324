#include "results/statistics/published_contrasts.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "base/random.h"
#include "results/statistics/statistics.h"

namespace posbench {
namespace {

/// Returns the ranks of the values. Equal values have the mean of their ranks.
std::vector<double> mid_ranks(std::span<const double> values) {
  std::vector<double> found;
  for (const double value : values) {
    const auto below = std::ranges::count_if(values, [&](double other) { return other < value; });
    const auto equal = std::ranges::count(values, value);
    found.push_back(static_cast<double>(below) + static_cast<double>(equal - 1) / 2);
  }
  return found;
}

/// Returns Spearman's correlation, or 0 if all values of one side are equal.
double rank_correlation(std::span<const double> a, std::span<const double> b) {
  const std::vector<double> x = mid_ranks(a), y = mid_ranks(b);
  const double mean_x = mean(x), mean_y = mean(y);
  double xy = 0, xx = 0, yy = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - mean_x) * (y[i] - mean_y);
    xx += (x[i] - mean_x) * (x[i] - mean_x);
    yy += (y[i] - mean_y) * (y[i] - mean_y);
  }
  return xx > 0 && yy > 0 ? xy / std::sqrt(xx * yy) : 0;
}

}  // namespace

PublishedContrasts compare_with_published(std::span<const Claim> claims, std::span<const ClaimResult> results) {
  PublishedContrasts all;
  std::vector<double> published, found;
  for (size_t i = 0; i < claims.size(); ++i) {
    for (size_t r = 0; r < claims[i].rules.size() && claims[i].comparable; ++r) {
      const auto* order = std::get_if<OrderRule>(&claims[i].rules[r]);
      const std::optional<double> difference = results[i].rules[r].mean_difference;
      if (!order || !order->gap || !difference) continue;
      published.push_back(*order->gap);
      found.push_back(*difference);
      all.same_sign += *difference > 0;
      all.similar_size += *difference >= *order->gap / 2 && *difference <= *order->gap * 2;
    }
  }
  all.contrasts = published.size();
  if (all.contrasts < 3) return all;
  all.rank_correlation = rank_correlation(published, found);
  constexpr int kResamples = 2000;
  Rng rng = make_rng(all.contrasts, "published contrasts");
  std::vector<double> draws;
  for (int n = 0; n < kResamples; ++n) {
    std::vector<double> a, b;
    for (const int i : resample_indices(rng, static_cast<int>(all.contrasts))) {
      a.push_back(published[static_cast<size_t>(i)]);
      b.push_back(found[static_cast<size_t>(i)]);
    }
    draws.push_back(rank_correlation(a, b));
  }
  all.interval = percentile_interval(std::move(draws));
  return all;
}

}  // namespace posbench
