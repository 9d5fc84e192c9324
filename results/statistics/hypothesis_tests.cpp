#include "results/statistics/hypothesis_tests.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "results/statistics/moderated_variance.h"
#include "results/statistics/permutation.h"
#include "results/statistics/statistics.h"
#include "results/statistics/summary.h"

namespace posbench {
namespace {

/// Returns true if both have the same learning curve and the same counts on every split.
bool are_identical(const ExperimentResult& a, const ExperimentResult& b) {
  if (a.status != b.status || a.final_loss != b.final_loss || a.learning_curve != b.learning_curve) return false;
  return std::equal(a.splits.begin(), a.splits.end(), b.splits.begin(), b.splits.end(),
                    [](const SplitResult& x, const SplitResult& y) {
                      const bool same_loss = !x.loss || !y.loss || x.loss == y.loss;  // older reports have none
                      return x.name == y.name && x.token == y.token && x.sequence == y.sequence && same_loss;
                    }) &&
         (a.grids.empty() || b.grids.empty() || a.grids == b.grids);
}

/// Returns the variance that rounding to counts of right answers adds to an accuracy. A step of 1 / n adds step^2
/// / 12. The smallest step of the effective length is 0.5. Other metrics are assumed to have steps of 1e-6.
double rounding_variance(const ComparedPair& pair, const ComparisonRow& row, Metric metric) {
  if (metric == Metric::effective_length) return 0.5 * 0.5 / 12;
  std::int64_t fewest = metric_info(metric).is_accuracy ? 0 : 1'000'000;
  for (const Experiments* side : {&pair.before, &pair.after}) {
    for (const ExperimentResult* experiment : *side) {
      const SplitResult* split = find_split(*experiment, row.split);
      const std::int64_t cases = split ? metric_info(metric).cases(*split) : 0;
      if (cases > 0) fewest = fewest == 0 ? cases : std::min(fewest, cases);
    }
  }
  return fewest == 0 ? 0 : 1 / (12.0 * static_cast<double>(fewest) * static_cast<double>(fewest));
}

/// The noise of one row within its sides. Its standard error follows from it.
struct RowNoise {
  double variance = 0, freedom = 0;  // of one accuracy, or of one pair's difference; 0 with one seed
  double seeds = 0;                  // the difference of the means has the variance `variance` / `seeds`
};

RowNoise row_noise(const SplitValues& values, bool in_pairs) {
  const double before = static_cast<double>(values.before.size()),
               after = static_cast<double>(values.after.size());
  RowNoise noise;
  const auto squares = [](std::span<const double> x) {
    const double deviation = x.size() < 2 ? 0 : standard_deviation(x);
    return deviation * deviation * static_cast<double>(x.size() - 1);
  };
  double sum = 0;
  if (in_pairs) {
    std::vector<double> differences;
    for (size_t i = 0; i < values.before.size(); ++i) differences.push_back(values.after[i] - values.before[i]);
    sum = squares(differences), noise.freedom = before - 1, noise.seeds = before;
  } else {
    sum = squares(values.before) + squares(values.after);
    noise.freedom = before + after - 2, noise.seeds = 1 / (1 / before + 1 / after);
  }
  if (noise.freedom > 0) noise.variance = std::max(sum / noise.freedom, values.least_variance);
  return noise;
}

Interval around(double middle, double variance, double freedom, double seeds) {
  const double half = t_half_width(freedom) * std::sqrt(variance / seeds);
  return {middle - half, middle + half};
}

/// Converts a permutation statistic, whose unit is the standard error of all values, to Student's t.
double as_t(double statistic, const RowNoise& noise) {
  const double left = noise.freedom + 1 - statistic * statistic;  // of the degrees of freedom of all values
  return left > 0 ? statistic * std::sqrt(noise.freedom / left) : std::numeric_limits<double>::infinity();
}

/// Computes the differences, intervals, p-values and detectable differences of all pairs.
class HypothesisTests {
 public:
  HypothesisTests(std::vector<ComparedPair>& pairs, const CompareOptions& options)
      : pairs_(pairs), options_(options) {}

  /// Returns the number of tests.
  size_t run() {
    for (ComparedPair& pair : pairs_) measure(pair);
    add_intervals();
    add_p_values();
    return hypotheses_.size();
  }

 private:
  void measure(ComparedPair& pair) {
    bool same = pair.by_seed;
    for (size_t i = 0; same && i < pair.before.size(); ++i) same = are_identical(*pair.before[i], *pair.after[i]);
    constexpr size_t kEnoughPairs = 6;
    const bool in_pairs = pair.by_seed && pair.before.size() >= kEnoughPairs;
    const bool enough = std::min(pair.before.size(), pair.after.size()) >= kEnoughSeeds;
    std::vector<SplitValues> splits;
    for (ComparisonRow& row : pair.rows) {
      row.in_pairs = in_pairs;
      row.identical = same;
      row.difference = row.after.mean - row.before.mean;
      splits.push_back({row.before.values, row.after.values,
                        (in_pairs ? 2 : 1) * rounding_variance(pair, row, options_.metric)});
      rows_.push_back(&row);
      noises_.push_back(row_noise(splits.back(), in_pairs));
    }
    if (!enough) return;
    first_row_.push_back(rows_.size() - pair.rows.size());
    hypotheses_.push_back(relabel(splits, in_pairs));
  }

  void add_intervals() {
    std::vector<double> variances, freedoms;
    for (const RowNoise& noise : noises_) {
      if (noise.freedom > 0) variances.push_back(noise.variance), freedoms.push_back(noise.freedom);
    }
    const VariancePrior prior = fit_variance_prior(variances, freedoms);
    for (size_t i = 0; i < rows_.size(); ++i) {
      const RowNoise& noise = noises_[i];
      if (noise.freedom == 0) continue;
      const double variance = moderate_variance(prior, noise.variance, noise.freedom);
      rows_[i]->noise = std::sqrt(variance);
      rows_[i]->interval = around(rows_[i]->difference, variance, noise.freedom + prior.freedom, noise.seeds);
      rows_[i]->unmoderated_interval = around(rows_[i]->difference, noise.variance, noise.freedom, noise.seeds);
    }
  }

  void add_p_values() {
    const std::vector<std::vector<double>> corrected = corrected_p(hypotheses_);
    const double critical = critical_statistic(hypotheses_, options_.alpha);
    for (size_t h = 0; h < hypotheses_.size(); ++h) {
      for (size_t s = 0; s < corrected[h].size(); ++s) {
        ComparisonRow& row = *rows_[first_row_[h] + s];
        const RowNoise& noise = noises_[first_row_[h] + s];
        row.p = hypotheses_[h].p(hypotheses_[h].statistics[s]);
        row.p_corrected = corrected[h][s];
        const double t = as_t(critical, noise);
        if (std::isfinite(t)) {
          row.detectable = detectable_noncentrality(t, noise.freedom) * *row.noise / std::sqrt(noise.seeds);
        }
      }
    }
  }

  std::vector<ComparedPair>& pairs_;
  const CompareOptions& options_;
  std::vector<ComparisonRow*> rows_;                 // of all pairs
  std::vector<RowNoise> noises_;                     // of the same
  std::vector<PermutationDistribution> hypotheses_;  // of the pairs with enough seeds
  std::vector<size_t> first_row_;                    // of each of them, in rows_
};

}  // namespace

size_t test_hypotheses(std::vector<ComparedPair>& pairs, const CompareOptions& options) {
  return HypothesisTests(pairs, options).run();
}

}  // namespace posbench
