#include "results/statistics/statistics.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "results/json/json.h"
#include "tests/catch.h"

using namespace posbench;

namespace {

// What established packages give, and how it was computed: tests/results/statistics_reference.py.
const Json& reference() {
  static const Json json = read_json(POSBENCH_SOURCE_DIR "/tests/results/statistics_reference.json");
  return json;
}

auto near(double value) { return Approx(value).epsilon(1e-9).margin(1e-12); }

}  // namespace

TEST_CASE("Wilson intervals equal scipy's") {
  for (const Json& row : reference().at("wilson")) {
    const Interval interval = wilson({row.at("correct"), row.at("total")});
    INFO(row);
    CHECK(interval.low == near(row.at("low")));
    CHECK(interval.high == near(row.at("high")));
  }
}

TEST_CASE("nothing scored has no accuracy, and its interval says nothing") {
  CHECK(std::isnan(accuracy({})));
  CHECK(wilson({}) == Interval{0, 1});
}

TEST_CASE("the paired t-test equals scipy's") {
  for (const Json& row : reference().at("paired_t_test")) {
    const PairedTest test = paired_t_test(row.at("differences").get<std::vector<double>>());
    INFO(row);
    CHECK(test.difference == near(row.at("mean")));
    CHECK(test.deviation.value() == near(row.at("deviation")));
    CHECK(test.interval.value().low == near(row.at("low")));
    CHECK(test.interval.value().high == near(row.at("high")));
    CHECK(test.p.value() == near(row.at("p")));
  }
}

TEST_CASE("one pair gives a difference and no test") {
  const PairedTest test = paired_t_test(std::vector{0.25});
  CHECK(test.difference == 0.25);
  CHECK(!test.deviation);
  CHECK(!test.interval);
  CHECK(!test.p);
  CHECK(!t_interval(std::vector{0.25}));
}

TEST_CASE("differences that are equal by the steps of the measurement are no proof") {
  const std::vector<double> two_steps_of_64 = {2.0 / 64, 2.0 / 64};
  CHECK(paired_t_test(two_steps_of_64).p.value() == 0);
  CHECK(paired_t_test(two_steps_of_64, 1.0 / 64).p.value() > 0.05);
  const std::vector<double> half = {0.5, 0.5, 0.5, 0.5, 0.5};
  CHECK(paired_t_test(half, 1.0 / 1024).p.value() < 1e-9);
  const PairedTest none = paired_t_test(std::vector{0.0, 0.0, 0.0});
  CHECK(none.p.value() == 1);
  CHECK(none.interval.value() == Interval{0, 0});
}

TEST_CASE("detectable effects equal those of scipy's distributions") {
  for (const Json& row : reference().at("detectable_effect")) {
    INFO(row);
    const double effect = detectable_effect(row.at("pairs"), row.at("alpha"));
    CHECK(effect == Approx(row.at("effect").get<double>()).epsilon(1e-6));
  }
}

TEST_CASE("far out, detectable effects go on without a jump") {
  // Two pairs and alpha = 0.05 / 79: the critical value passes 1000 between these.
  const double before = detectable_effect(2, 0.000637), after = detectable_effect(2, 0.000636);
  CHECK(after / before == Approx(0.000637 / 0.000636).epsilon(1e-3));
  CHECK(std::isfinite(detectable_effect(2, 1e-9)));
}

TEST_CASE("Holm's correction equals statsmodels'") {
  for (const Json& row : reference().at("holm")) {
    const std::vector<double> adjusted = holm(row.at("p").get<std::vector<double>>());
    INFO(row);
    REQUIRE(adjusted.size() == row.at("adjusted").size());
    for (size_t i = 0; i < adjusted.size(); ++i) CHECK(adjusted[i] == near(row.at("adjusted")[i]));
  }
  CHECK(holm({}).empty());
}

TEST_CASE("percentile intervals equal numpy's") {
  for (const Json& row : reference().at("percentile_interval")) {
    const Interval interval = percentile_interval(row.at("draws").get<std::vector<double>>());
    INFO(row);
    CHECK(interval.low == near(row.at("low")));
    CHECK(interval.high == near(row.at("high")));
  }
}

TEST_CASE("a bootstrap interval of a mean holds the true mean about as often as it says") {
  Rng rng = stream(1, "test");
  int covered = 0;
  constexpr int kTrials = 400, kValues = 40;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> values(kValues), means(400);
    for (double& value : values) value = 3 + normal(rng);
    for (double& m : means) {
      m = 0;
      for (const int i : resample(rng, kValues)) m += values[static_cast<size_t>(i)] / kValues;
    }
    const Interval interval = percentile_interval(means);
    covered += interval.low <= 3 && 3 <= interval.high;
  }
  CHECK(covered >= 0.91 * kTrials);
  CHECK(covered <= 0.98 * kTrials);
}
