// Summaries over tasks. The package rliable (PyPI) gives the same values for this example: aggregate_iqm 0.38333,
// probability_of_improvement 0.5. Its intervals resample seeds only; these resample tasks too.
#include "results/statistics/aggregate.h"

#include <array>
#include <vector>

#include "tests/catch.h"

using namespace posbench;

namespace {

const TaskScores kFirst = {{0.9, 0.8, 1.0, 0.1}, {0.5, 0.5, 0.4, 0.6}, {0.0, 0.2, 0.1, 0.0}};
const TaskScores kSecond = {{0.7, 0.8, 0.2, 0.1}, {0.5, 0.3, 0.4, 0.6}, {0.3, 0.2, 0.1, 0.4}};

}  // namespace

TEST_CASE("the interquartile mean is the mean of the middle half of all scores") {
  // Sorted: 0 0 0.1 | 0.1 0.2 0.4 0.5 0.5 0.6 | 0.8 0.9 1
  CHECK(interquartile_mean(kFirst) == Approx(2.3 / 6));
  CHECK(interquartile_mean({{1}, {0}, {0.5}}) == Approx(0.5));
  const Estimate estimate = estimate_interquartile_mean(kFirst);
  CHECK(estimate.value == interquartile_mean(kFirst));
  // Seeds alone would give 0.23 to 0.53. A resample may have the best or the worst task three times.
  CHECK(estimate.interval.low < 0.15);
  CHECK(estimate.interval.high > 0.65);
  const Estimate of_equal_seeds = estimate_interquartile_mean({{0.4, 0.4}, {0.6, 0.6}});
  CHECK(of_equal_seeds.interval.low == Approx(0.4));
  CHECK(of_equal_seeds.interval.high == Approx(0.6));
}

TEST_CASE("the probability of improvement counts pairs of seeds on each task, and equal scores half") {
  CHECK(probability_of_improvement({{1, 1}}, {{0, 0}}) == 1);
  CHECK(probability_of_improvement({{1, 0}}, {{1, 0}}) == 0.5);
  // Task 0: 4 + 3.5 + 4 + 0.5 of 16; task 1: 2.5 + 2.5 + 1.5 + 3.5; task 2: 0 + 1.5 + 0.5 + 0.
  CHECK(probability_of_improvement(kFirst, kSecond) == Approx((12.0 + 10.0 + 2.0) / 48));
  CHECK(probability_of_improvement(kFirst, kSecond) + probability_of_improvement(kSecond, kFirst) == Approx(1));
  const Estimate estimate = estimate_probability_of_improvement(kFirst, kSecond);
  CHECK(estimate.interval.low < 0.5);
  CHECK(estimate.interval.high > 0.5);
  const Estimate of_equal_seeds = estimate_probability_of_improvement({{1, 1}, {0, 0}}, {{0, 0}, {1, 1}});
  CHECK(of_equal_seeds.interval.low == 0);  // both resampled tasks may be the second
  CHECK(of_equal_seeds.interval.high == 1);
}

TEST_CASE("a performance profile has the fraction of scores above each threshold") {
  const std::vector<double> profile = performance_profile(kFirst, std::array{0.0, 0.45, 0.9});
  CHECK(profile[0] == Approx((1.0 + 1.0 + 0.5) / 3));
  CHECK(profile[1] == Approx((0.75 + 0.75 + 0.0) / 3));
  CHECK(profile[2] == Approx((0.25 + 0.0 + 0.0) / 3));
}
