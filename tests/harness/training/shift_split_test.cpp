// Tests the split `shift`: the test samples in distribution, at positions that begin later.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "base/error.h"
#include "harness/config/config.h"
#include "harness/training/task_setup.h"
#include "model/position_encoding.h"
#include "tests/catch.h"
#include "tests/harness/training/small_runs.h"

using namespace posbench;

namespace {

/// Returns the result of a small run whose last split is `shift`.
ExperimentResult run_shifted(const std::string& encoding) {
  RunConfig config = small_config("flip_flop", encoding);
  config.set("evaluation.shift", "3");
  ExperimentResult result = run_alone(config);
  REQUIRE(result.status == Status::ok);
  REQUIRE(result.splits.back().name == "shift");
  REQUIRE(result.splits.back().kind == SplitKind::shifted);
  return result;
}

}  // namespace

TEST_CASE(
    "encodings that read distances or no positions have the same bytes in distribution and in the split shift") {
  const std::string encoding = GENERATE("none", "alibi", "t5_bias", "kerple_log", "cope", "path", "fox");
  INFO(encoding);
  const ExperimentResult result = run_shifted(encoding);
  SplitResult shifted = result.splits.back();
  shifted.name = "in_distribution", shifted.kind = SplitKind::in_distribution;
  CHECK(shifted == result.splits.front());
}

TEST_CASE("rotary encodings have the same loss in the split shift up to rounding") {
  const ExperimentResult result = run_shifted("rope");
  CHECK(*result.splits.back().loss == Approx(*result.splits.front().loss).epsilon(1e-4));
}

TEST_CASE("absolute encodings have another loss in the split shift") {
  const std::string encoding = GENERATE("learned_abs", "sinusoidal");
  const ExperimentResult result = run_shifted(encoding);
  CHECK(std::abs(*result.splits.back().loss - *result.splits.front().loss) > 0.01);
}

TEST_CASE("the positions of the split shift begin at 1 to evaluation.shift times the trained length") {
  ExperimentOptions options;
  options.evaluation.shift = 2;
  const TaskSetup setup = make_task_setup(options, "flip_flop:length=4");
  REQUIRE(setup.largest_shift() == 2 * setup.model_config.trained_length);
  CHECK(setup.model_config.longest >= 3 * setup.model_config.trained_length);
  const PositionEncoding plain(setup.model_config);
  const SampleStream plainly = setup.stream({Purpose::test, "in_distribution", 1}),
                     shifted = setup.stream({Purpose::test, "shift", 1});
  int least = 1000, greatest = 0;
  for (const PreparedSample& sample : draw_batch(shifted, plain, /*training=*/false, 0, 400)) {
    const int first = sample.sequence.first_position;
    least = std::min(least, first), greatest = std::max(greatest, first);
    REQUIRE(sample.sequence.positions.at.front() == static_cast<Real>(first));
    REQUIRE(sample.sequence.positions.distance(3, 0) == 3);
    REQUIRE(sample.sequence.tokens == plainly(sample.index).example.tokens);
  }
  CHECK(least == 1);
  CHECK(greatest == setup.largest_shift());
}

TEST_CASE("a run without evaluation.shift has no split shift") {
  const TaskSetup setup = make_task_setup({}, "flip_flop");
  CHECK_THROWS_AS(find_split(setup, "shift"), InputError);
}

TEST_CASE("a configuration cannot define a split called shift") {
  const Json config = Json::parse(R"({"splits": {"flip_flop": {"shift": {"length": "4x"}}}})");
  std::string message;
  try {
    config_from_json(config, "c.json");
  } catch (const InputError& error) {
    message = error.what();
  }
  CHECK(message.find("'shift' is the split of evaluation.shift; set that, or take another name") != message.npos);
}
