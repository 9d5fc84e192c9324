#include "results/statistics/separation.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "results/statistics/compare.h"
#include "results/statistics/permutation.h"

namespace posbench {
namespace {

using SeedValues = std::vector<std::vector<double>>;  // [encoding][seed]

double variance(const std::vector<double>& values) {
  const double deviation = standard_deviation(values);
  return deviation * deviation;
}

int resolved_pairs(const SeedValues& encodings) {
  constexpr double kAlpha = 0.05, kLeastVariance = 1e-8;  // that of rounding to some thousand sequences
  std::vector<PermutationDistribution> pairs;
  for (size_t a = 0; a < encodings.size(); ++a) {
    for (size_t b = a + 1; b < encodings.size(); ++b) {
      if (std::min(encodings[a].size(), encodings[b].size()) < kEnoughSeeds) continue;
      pairs.push_back(relabel(std::vector{SplitValues{encodings[a], encodings[b], kLeastVariance}}, false));
    }
  }
  int resolved = 0;
  for (const std::vector<double>& p : corrected_p(pairs)) resolved += p.front() <= kAlpha;
  return resolved;
}

Separation separation(const std::string& task, const SeedValues& encodings) {
  std::vector<double> means, variances;
  size_t seeds = encodings.front().size();
  for (const std::vector<double>& values : encodings) {
    means.push_back(mean(values));
    variances.push_back(variance(values));
    seeds = std::min(seeds, values.size());
  }
  Separation result{.task = task,
                    .between = variance(means),
                    .over_seeds = mean(variances),
                    .pairs = static_cast<int>(encodings.size() * (encodings.size() - 1) / 2),
                    .resolved = resolved_pairs(encodings),
                    .seeds = static_cast<int>(seeds)};
  if (result.over_seeds > 0) {
    result.ratio = result.between / result.over_seeds;
  } else if (result.between > 0) {
    result.ratio = std::numeric_limits<double>::infinity();
  }
  return result;
}

}  // namespace

std::vector<Separation> find_separations(const Summary& summary, SplitKind kind, Metric metric) {
  std::vector<std::string> order;
  std::map<std::string, SeedValues> tasks;
  for (const SummaryRow& row : summary.rows) {
    const auto& split = kind == SplitKind::in_distribution ? row.in_distribution : row.out_of_distribution;
    const Spread* spread = split ? split->spread(metric) : nullptr;
    if (!spread) continue;
    SeedValues& encodings = tasks[row.task];
    if (encodings.empty()) order.push_back(row.task);
    encodings.push_back(spread->values);
  }
  std::vector<Separation> separations;
  for (const std::string& task : order) {
    const SeedValues& encodings = tasks[task];
    const bool few_seeds = std::ranges::any_of(encodings, [](const auto& v) { return v.size() < 2; });
    if (encodings.size() >= 2 && !few_seeds) separations.push_back(separation(task, encodings));
  }
  return separations;
}

}  // namespace posbench
