#include "results/statistics/permutation.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "base/random.h"
#include "results/statistics/statistics.h"

namespace posbench {
namespace {

constexpr double kMaxRelabelings = 10000;
constexpr double kTolerance = 1e-9;  // statistics that differ by less are equal up to rounding

/// A split, prepared: the statistic of a relabeling is |sum of the chosen values - offset| * scale.
struct Prepared {
  std::vector<double> values;
  double offset = 0, scale = 0;
};

/// Prepares a split of two groups. The chosen values have the label candidate; the statistic is their mean
/// minus that of the others.
Prepared prepare_groups(const SplitValues& split) {
  Prepared prepared{.values = split.before};
  prepared.values.insert(prepared.values.end(), split.after.begin(), split.after.end());
  const double before = static_cast<double>(split.before.size()), after = static_cast<double>(split.after.size());
  const double all = before + after, total = std::accumulate(prepared.values.begin(), prepared.values.end(), 0.0);
  const double deviation = standard_deviation(prepared.values);
  const double variance = std::max(deviation * deviation, split.least_variance);
  // chosen / after - (total - chosen) / before = (chosen - total * after / all) * all / (before * after)
  prepared.offset = total * after / all;
  if (variance > 0) prepared.scale = all / (before * after) / std::sqrt(variance * (1 / before + 1 / after));
  return prepared;
}

/// Prepares a split of pairs. The chosen differences change their sign; the mean of all is then (total - 2 chosen)
/// / n.
Prepared prepare_pairs(const SplitValues& split) {
  Prepared prepared;
  double total = 0, squares = 0;
  for (size_t i = 0; i < split.before.size(); ++i) {
    const double difference = prepared.values.emplace_back(split.after[i] - split.before[i]);
    total += difference, squares += difference * difference;
  }
  const double n = static_cast<double>(split.before.size());
  const double variance = std::max(squares / n, split.least_variance);
  prepared.offset = total / 2;
  if (variance > 0) prepared.scale = 2 / std::sqrt(n * variance);
  return prepared;
}

double statistic(const Prepared& split, std::span<const int> chosen) {
  double sum = 0;
  for (const int i : chosen) sum += split.values[static_cast<size_t>(i)];
  return std::abs(sum - split.offset) * split.scale;
}

/// Calls f with each set of `count` of the numbers 0 .. n-1.
void each_choice(int n, int count, const std::function<void(std::span<const int>)>& f) {
  std::vector<int> chosen(static_cast<size_t>(count));
  std::iota(chosen.begin(), chosen.end(), 0);
  while (true) {
    f(chosen);
    int i = count - 1;
    while (i >= 0 && chosen[static_cast<size_t>(i)] == n - count + i) --i;
    if (i < 0) return;
    ++chosen[static_cast<size_t>(i)];
    for (int j = i + 1; j < count; ++j) chosen[static_cast<size_t>(j)] = chosen[static_cast<size_t>(j - 1)] + 1;
  }
}

double choices(int n, int count) {
  double product = 1;
  for (int i = 1; i <= count; ++i) product *= static_cast<double>(n - count + i) / i;
  return product;
}

/// Calls f with all relabelings if there are at most kMaxRelabelings, otherwise with that many random ones.
void each_group_labeling(int before, int after, const std::function<void(std::span<const int>)>& f) {
  if (choices(before + after, after) <= kMaxRelabelings) return each_choice(before + after, after, f);
  // The text seeds the generator, so its spelling must not change.
  Rng rng = make_rng(static_cast<std::uint64_t>(before), "relabelling", static_cast<std::uint64_t>(after));
  std::vector<int> chosen(static_cast<size_t>(after));
  std::iota(chosen.begin(), chosen.end(), before);  // the true labeling
  f(chosen);
  for (int n = 1; n < kMaxRelabelings; ++n) f(sample_distinct(rng, before + after, after));
}

void each_pair_labeling(int pairs, const std::function<void(std::span<const int>)>& f) {
  const bool all = std::exp2(pairs) <= kMaxRelabelings;
  Rng rng = make_rng(static_cast<std::uint64_t>(pairs), "turning round");
  std::vector<int> chosen;
  const int count = static_cast<int>(all ? std::exp2(pairs) : kMaxRelabelings);
  for (int n = 0; n < count; ++n) {  // 0 is the true labeling
    chosen.clear();
    for (int i = 0; i < pairs; ++i) {
      if (all ? (n >> i) % 2 == 1 : n > 0 && bernoulli(rng, 0.5)) chosen.push_back(i);
    }
    f(chosen);
  }
}

}  // namespace

double PermutationDistribution::statistic() const { return *std::ranges::max_element(statistics); }

double PermutationDistribution::p(double statistic) const {
  const auto reached = std::lower_bound(maxima.begin(), maxima.end(), statistic - kTolerance);
  return static_cast<double>(maxima.end() - reached) / static_cast<double>(maxima.size());
}

PermutationDistribution relabel(std::span<const SplitValues> splits, bool in_pairs) {
  assert(!splits.empty());
  const int before = static_cast<int>(splits[0].before.size()), after = static_cast<int>(splits[0].after.size());
  assert(before >= 1 && after >= 1 && (!in_pairs || before == after));
  std::vector<Prepared> prepared;
  for (const SplitValues& split : splits) {
    prepared.push_back(in_pairs ? prepare_pairs(split) : prepare_groups(split));
  }
  std::vector<int> truth;  // the true labels
  for (int i = 0; !in_pairs && i < after; ++i) truth.push_back(before + i);
  PermutationDistribution result;
  for (const Prepared& split : prepared) result.statistics.push_back(statistic(split, truth));
  const auto add = [&](std::span<const int> chosen) {
    double most = 0;
    for (const Prepared& split : prepared) most = std::max(most, statistic(split, chosen));
    result.maxima.push_back(most);
  };
  if (in_pairs) {
    each_pair_labeling(before, add);
  } else {
    each_group_labeling(before, after, add);
  }
  std::ranges::sort(result.maxima);
  return result;
}

double range_p(std::span<const std::vector<double>* const> groups, const char* name) {
  constexpr int kRelabelings = 1000;  // the true one among them
  std::vector<double> values;
  for (const std::vector<double>* group : groups) values.insert(values.end(), group->begin(), group->end());
  const auto range = [&] {
    double least = std::numeric_limits<double>::infinity(), greatest = -least;
    auto begin = values.begin();
    for (const std::vector<double>* group : groups) {
      const auto end = begin + static_cast<std::ptrdiff_t>(group->size());
      const double mean = std::accumulate(begin, end, 0.0) / static_cast<double>(group->size());
      least = std::min(least, mean), greatest = std::max(greatest, mean);
      begin = end;
    }
    return greatest - least;
  };
  const double observed = range();
  Rng rng = make_rng(values.size(), name, groups.size());
  int reached = 1;
  for (int n = 1; n < kRelabelings; ++n) {
    shuffle(std::span(values), rng);
    reached += range() >= observed - kTolerance;
  }
  return static_cast<double>(reached) / kRelabelings;
}

std::vector<std::vector<double>> corrected_p(std::span<const PermutationDistribution> hypotheses) {
  struct Row {
    size_t hypothesis, split;
    double statistic;
  };
  std::vector<Row> rows;
  std::vector<size_t> left(hypotheses.size());  // splits of each hypothesis that are still to come
  std::vector<std::vector<double>> corrected(hypotheses.size());
  for (size_t h = 0; h < hypotheses.size(); ++h) {
    left[h] = hypotheses[h].statistics.size();
    corrected[h].resize(left[h]);
    for (size_t s = 0; s < left[h]; ++s) rows.push_back({h, s, hypotheses[h].statistics[s]});
  }
  std::ranges::stable_sort(rows, [](const Row& a, const Row& b) { return a.statistic > b.statistic; });
  double greatest = 0;
  for (const Row& row : rows) {
    double sum = greatest < 1 ? 0 : 1;  // a sum is computed until it reaches 1
    for (size_t h = 0; h < hypotheses.size() && sum < 1; ++h) {
      if (left[h] > 0) sum += hypotheses[h].p(row.statistic);
    }
    greatest = std::max(greatest, std::min(1.0, sum));
    corrected[row.hypothesis][row.split] = greatest;
    --left[row.hypothesis];
  }
  return corrected;
}

double critical_statistic(std::span<const PermutationDistribution> hypotheses, double alpha) {
  std::vector<double> maxima;
  for (const PermutationDistribution& hypothesis : hypotheses) {
    maxima.insert(maxima.end(), hypothesis.maxima.begin(), hypothesis.maxima.end());
  }
  std::ranges::sort(maxima);
  const auto found = std::partition_point(maxima.begin(), maxima.end(), [&](double statistic) {
    double sum = 0;
    for (const PermutationDistribution& hypothesis : hypotheses) sum += hypothesis.p(statistic);
    return sum > alpha;
  });
  return found == maxima.end() ? std::numeric_limits<double>::infinity() : *found;
}

}  // namespace posbench
