#include "results/statistics/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "results/json/json.h"
#include "results/statistics/moderated_variance.h"
#include "results/statistics/permutation.h"
#include "results/statistics/proportion.h"
#include "results/statistics/seed_pairs.h"
#include "tests/catch.h"

using namespace posbench;

namespace {

// Returns the results of established packages, computed by tests/results/statistics_reference.py.
const Json& reference() {
  static const Json json = read_json(POSBENCH_SOURCE_DIR "/tests/results/statistics_reference.json");
  return json;
}

/// Returns the lower bound of bounded_mean_interval by its definition: the 2.5 % quantile of sum_i gap_i z_i.
double slow_lower_bound(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  Rng rng = make_rng(values.size(), "bounded mean");
  std::vector<double> sums(10000);
  for (double& sum : sums) {
    std::vector<double> gaps(values.size() + 1);
    for (double& gap : gaps) gap = -std::log1p(-uniform_real(rng));
    const double all = std::accumulate(gaps.begin(), gaps.end(), 0.0);
    for (size_t i = 0; i < values.size(); ++i) sum += gaps[i + 1] / all * values[i];
  }
  std::sort(sums.begin(), sums.end());
  return sums[250];
}

auto near(double value) { return Approx(value).epsilon(1e-9).margin(1e-12); }

}  // namespace

TEST_CASE("Wilson intervals equal scipy's") {
  for (const Json& row : reference().at("wilson")) {
    const Interval interval = wilson_interval({row.at("correct"), row.at("total")});
    INFO(row);
    CHECK(interval.low == near(row.at("low")));
    CHECK(interval.high == near(row.at("high")));
  }
}

TEST_CASE("a Wilson interval begins at 0 if no case is right, and ends at 1 if every case is right") {
  for (std::int64_t total = 1; total < 3000; ++total) {
    CAPTURE(total);
    REQUIRE(wilson_interval({0, total}).low == 0);
    REQUIRE(wilson_interval({total, total}).high == 1);
  }
}

TEST_CASE("without scored positions there is no accuracy, and its interval is [0, 1]") {
  CHECK(std::isnan(accuracy({})));
  CHECK(wilson_interval({}) == Interval{0, 1});
}

TEST_CASE("Student's intervals equal scipy's") {
  for (const Json& row : reference().at("t_interval")) {
    const std::optional<Interval> interval = t_interval(row.at("values").get<std::vector<double>>());
    INFO(row);
    CHECK(interval.value().low == near(row.at("low")));
    CHECK(interval.value().high == near(row.at("high")));
  }
  CHECK(!t_interval(std::vector{0.25}));
}

TEST_CASE("detectable effects equal those of scipy's distributions") {
  for (const Json& row : reference().at("detectable_noncentrality")) {
    INFO(row);
    const double noncentrality = detectable_noncentrality(row.at("critical"), row.at("freedom"));
    CHECK(noncentrality == Approx(row.at("noncentrality").get<double>()).epsilon(1e-6));
  }
}

TEST_CASE("large detectable effects continue without a jump") {
  CHECK(detectable_noncentrality(1001, 1) / detectable_noncentrality(999, 1) ==
        Approx(1001.0 / 999).epsilon(1e-3));
  CHECK(std::isfinite(detectable_noncentrality(1e9, 1)));
}

TEST_CASE("Clopper-Pearson intervals equal scipy's") {
  for (const Json& row : reference().at("clopper_pearson")) {
    const Interval interval = clopper_pearson_interval({row.at("correct"), row.at("total")});
    INFO(row);
    CHECK(interval.low == near(row.at("low")));
    CHECK(interval.high == near(row.at("high")));
  }
  CHECK(clopper_pearson_interval({}) == Interval{0, 1});
}

TEST_CASE("the interval of a mean is Clopper and Pearson's if every value is 0 or 1, and always has a width") {
  for (const int ones : {0, 1, 3, 5}) {
    std::vector<double> values(5, 0.0);
    std::fill_n(values.begin(), ones, 1.0);
    const Interval interval = bounded_mean_interval(values), exact = clopper_pearson_interval({ones, 5});
    CHECK(interval.low == Approx(exact.low).margin(0.015));
    CHECK(interval.high == Approx(exact.high).margin(0.015));
  }
  const Interval equal = bounded_mean_interval(std::vector{0.5, 0.5, 0.5});
  CHECK(equal.low < 0.3);
  CHECK(equal.high > 0.7);
}

TEST_CASE("the interval of a mean equals a slow computation, with ties, zeros and ones, in any order of calls") {
  Rng rng = make_rng(2, "test");
  for (const int count : {5, 2, 40, 5, 300, 3}) {
    std::vector<double> values, wrong;
    for (int i = 0; i < count; ++i) {
      values.push_back(bernoulli(rng, 0.3) ? uniform(rng, 0, 1) : uniform(rng, 0, 64) / 64.0);
      wrong.push_back(1 - values.back());
    }
    CAPTURE(values);
    const Interval interval = bounded_mean_interval(values);
    CHECK(interval.low == Approx(slow_lower_bound(values)).epsilon(1e-12));
    CHECK(interval.high == Approx(1 - slow_lower_bound(wrong)).epsilon(1e-12));
    CHECK(bounded_mean_interval(values) == interval);
  }
  const Interval none = bounded_mean_interval(std::vector(7, 0.0));
  CHECK(none.low == 0);
  CHECK(none.high == Approx(1 - slow_lower_bound(std::vector(7, 1.0))).epsilon(1e-12));
}

TEST_CASE("the interval of a mean has at least its nominal coverage, with three bimodal seeds") {
  for (const double rate : {0.1, 0.3, 0.5, 0.9}) {
    Rng rng = make_rng(1, "test");
    int covered = 0;
    constexpr int kTrials = 500;
    for (int trial = 0; trial < kTrials; ++trial) {
      std::vector<double> values(3);
      for (double& value : values)
        value = bernoulli(rng, rate) ? 1 - 0.01 * uniform_real(rng) : 0.3 * uniform_real(rng);
      const Interval interval = bounded_mean_interval(values);
      const double mean = rate * 0.995 + (1 - rate) * 0.15;
      covered += interval.low <= mean && mean <= interval.high;
    }
    INFO("a seed solves with probability " << rate);
    CHECK(covered >= 0.94 * kTrials);
  }
}

TEST_CASE("permutation tests of one split equal scipy's") {
  for (const Json& row : reference().at("permutation")) {
    INFO(row);
    const std::vector split = {SplitValues{row.at("before"), row.at("after")}};
    const PermutationDistribution result = relabel(split, row.at("in_pairs"));
    CHECK(result.p(result.statistic()) == near(row.at("p")));
  }
}

TEST_CASE("a hypothesis of several splits is tested by the largest statistic") {
  const SplitValues same{{0.1, 0.4, 0.3, 0.2, 0.5}, {0.4, 0.1, 0.3, 0.5, 0.2}};
  const SplitValues apart{{0.1, 0.1, 0.1, 0.1, 0.1}, {1, 1, 1, 1, 1}};
  const PermutationDistribution one = relabel(std::vector{apart}, false),
                                both = relabel(std::vector{same, apart}, false),
                                reversed = relabel(std::vector{apart, same}, false);
  CHECK(one.p(one.statistic()) == near(2.0 / 252));
  CHECK(both.statistic() == near(one.statistic()));
  CHECK(both.p(both.statistic()) == near(2.0 / 252));
  CHECK(both.p(both.statistics[0]) > 0.9);
  CHECK(reversed.statistic() == both.statistic());
  CHECK(reversed.maxima == both.maxima);
}

TEST_CASE("hypotheses that cannot reach a statistic do not count against it") {
  const PermutationDistribution apart = relabel(std::vector{SplitValues{{0, 0, 0, 0, 0}, {1, 1, 1, 1, 1}}}, false);
  const PermutationDistribution flat = relabel(std::vector{SplitValues{{0, 0, 1, 0, 0}, {0, 1, 0, 0, 0}}}, false);
  std::vector<PermutationDistribution> family(49, flat);
  family.push_back(apart);
  CHECK(corrected_p(family)[49][0] == near(2.0 / 252));
  CHECK(corrected_p(family)[0][0] == 1);
  // For hypotheses that are all alike it is Holm's procedure.
  const std::vector<PermutationDistribution> alike(5, apart);
  for (const auto& p : corrected_p(alike)) CHECK(p[0] == near(5 * 2.0 / 252));
  CHECK(critical_statistic(alike, 0.05) == near(apart.statistic()));
  CHECK(std::isinf(critical_statistic(std::vector<PermutationDistribution>(7, apart), 0.05)));
}

TEST_CASE("a hypothesis that is decided counts no longer against later ones") {
  // Both have the same values, and so the same distribution. The first separates them, the second nearly does.
  const PermutationDistribution apart =
                                    relabel(std::vector{SplitValues{{0, 1, 2, 3, 4}, {6, 7, 8, 9, 10}}}, false),
                                nearly =
                                    relabel(std::vector{SplitValues{{0, 1, 2, 3, 7}, {6, 4, 8, 9, 10}}}, false);
  REQUIRE(apart.maxima == nearly.maxima);
  const double first = apart.p(apart.statistic()), second = nearly.p(nearly.statistic());
  CHECK(first == near(2.0 / 252));
  REQUIRE(second > 2 * first);
  const std::vector<std::vector<double>> corrected = corrected_p(std::vector{nearly, apart});
  CHECK(corrected[1][0] == near(2 * first));
  CHECK(corrected[0][0] == near(second));  // it is the only one that is left
}

TEST_CASE("a corrected p-value is not below that of a larger statistic") {
  // The statistic of the first is larger, and so is its p-value. The second reaches its own in few relabelings.
  const PermutationDistribution common{.statistics = {3}, .maxima = {0, 1, 3, 4}},
      rare{.statistics = {2}, .maxima = {0, 0, 0, 0, 0, 0, 0, 0, 0, 2}};
  const std::vector<std::vector<double>> corrected = corrected_p(std::vector{common, rare});
  CHECK(corrected[0][0] == near(0.5));
  CHECK(corrected[1][0] == near(0.5));
}

TEST_CASE("the p-value of pairs of seeds is 2^-k if all agree, and a bound by matchings otherwise") {
  CHECK(pairs_p(1, 8) == Approx(1.0 / 256));
  CHECK(pairs_p(1, 16) == Approx(1.0 / 65536));
  CHECK(pairs_p(0.5, 8) == 1);
  // 15 of 16 pairs: of 16 matched pairs, (P(B = 15) + 2 P(B = 16)) / 1, which is close to P(B >= 15).
  CHECK(pairs_p(15.0 / 16, 16) == Approx(18.0 / 65536));
  CHECK(pairs_p(1, 8, 0.6) == Approx(std::pow(0.6, 8)));
  const double level = 0.05 / 2 / 200;  // of claims, for which docs/reading.md has these numbers of seeds
  for (const auto& [failed, seeds] : {std::pair{0, 13}, {1, 18}, {2, 21}, {3, 25}}) {
    CHECK(pairs_p(1 - failed / double(seeds), static_cast<size_t>(seeds)) <= level);
    CHECK(pairs_p(1 - failed / (seeds - 1.0), static_cast<size_t>(seeds) - 1) > level);
  }
  const std::vector<double> high{0.6, 0.7, 0.5, 0.8, 0.9, 0.65, 0.75}, low{0.1, 0.2, 0.15, 0.12, 0.3, 0.5, 0.25};
  const SeedPairs pairs(high, low);
  CHECK(pairs.above(0) == Approx(48.0 / 49));  // one difference is 0, which is neither above nor below
  CHECK(pairs.below(0) == 0);
  CHECK(pairs.p_below(0) == 1);
  CHECK(SeedPairs(std::vector{0.9, 0.5}, std::vector{0.1}).median() == Approx(0.6));
  const Interval interval = pairs.median_interval();
  CHECK(interval.low < pairs.median());
  CHECK(pairs.p_above(interval.low - 1e-5) <= 0.025);
  CHECK(pairs.p_above(interval.low + 1e-5) > 0.025);
  CHECK(pairs.p_below(interval.high + 1e-5) <= 0.025);
  CHECK(pairs.p_below(interval.high - 1e-5) > 0.025);
  CHECK(SeedPairs(std::vector<double>(5, 1.0), std::vector<double>(5, 0.0)).median_interval() == Interval{-1, 1});
  CHECK(SeedPairs(std::vector<double>(8, 1.0), low).fraction_above(0).low == Approx(std::pow(0.025, 1.0 / 7)));
}

TEST_CASE("many relabelings are drawn, the true one among them, and are the same each time") {
  std::vector<double> low(10), high(10);
  for (size_t i = 0; i < 10; ++i) low[i] = 0.01 * static_cast<double>(i), high[i] = 0.5 + low[i];
  const PermutationDistribution drawn = relabel(std::vector{SplitValues{low, high}}, false);
  CHECK(drawn.maxima.size() == 10000);
  CHECK(drawn.p(drawn.statistic()) >= 1e-4);
  CHECK(drawn.p(drawn.statistic()) < 1e-3);
  CHECK(relabel(std::vector{SplitValues{low, high}}, false).maxima == drawn.maxima);
}

TEST_CASE("the prior of variances equals an independent computation of limma's") {
  for (const Json& row : reference().at("variance_prior")) {
    INFO(row);
    const std::vector<double> variances = row.at("variances"), freedom = row.at("freedom");
    const VariancePrior prior = fit_variance_prior(variances, freedom);
    CHECK(prior.variance == near(row.at("prior")));
    if (row.at("prior_freedom").is_null()) {
      CHECK(std::isinf(prior.freedom));
      CHECK(moderate_variance(prior, 1, 8) == prior.variance);
    } else {
      CHECK(prior.freedom == near(row.at("prior_freedom")));
      CHECK(moderate_variance(prior, 1, 8) == near((prior.freedom * prior.variance + 8) / (prior.freedom + 8)));
    }
  }
  CHECK(moderate_variance(fit_variance_prior(std::vector{0.25}, std::vector{4.0}), 0.25, 4) == 0.25);
}

TEST_CASE("percentile intervals equal numpy's") {
  for (const Json& row : reference().at("percentile_interval")) {
    const Interval interval = percentile_interval(row.at("draws").get<std::vector<double>>());
    INFO(row);
    CHECK(interval.low == near(row.at("low")));
    CHECK(interval.high == near(row.at("high")));
  }
}

TEST_CASE("a bootstrap interval of a mean has about its nominal coverage") {
  Rng rng = make_rng(1, "test");
  int covered = 0;
  constexpr int kTrials = 400, kValues = 40;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> values(kValues), means(400);
    for (double& value : values) value = 3 + normal(rng);
    for (double& m : means) {
      m = 0;
      for (const int i : resample_indices(rng, kValues)) m += values[static_cast<size_t>(i)] / kValues;
    }
    const Interval interval = percentile_interval(means);
    covered += interval.low <= 3 && 3 <= interval.high;
  }
  CHECK(covered >= 0.91 * kTrials);
  CHECK(covered <= 0.98 * kTrials);
}
