// Tests training.validate_splits, which adds the splits to the learning curve.
#include <nlohmann/json.hpp>
#include <vector>

#include "harness/training/run_experiment.h"
#include "results/reports/experiment_json.h"
#include "tests/catch.h"
#include "tests/harness/training/small_runs.h"

using namespace posbench;

TEST_CASE("validation on the splits changes nothing but the learning curve") {
  const RunConfig plain = small_config("flip_flop", "rope");
  RunConfig with_splits = plain;
  with_splits.training.validate_splits = true;
  CHECK(!to_json(plain)["training"].contains("validate_splits"));
  CHECK(to_json(with_splits)["training"]["validate_splits"] == true);
  const ExperimentResult without = run_alone(plain), with = run_alone(with_splits);
  REQUIRE(with.learning_curve.size() == 2);
  for (size_t n = 0; n < 2; ++n) {
    const std::vector<SplitAccuracy>& splits = with.learning_curve[n].splits;
    REQUIRE(splits.size() == 4);
    CHECK(splits[0].split == "ood_dense");
    CHECK(splits[3].split == "ood_sparse_length");
  }
  CHECK(without.learning_curve[1].splits.empty());
  ExperimentResult stripped = with;
  for (CurvePoint& point : stripped.learning_curve) point.splits.clear();
  CHECK(stripped == without);
  const ExperimentResult read = experiment_from_json(to_json(with), "test");
  CHECK(read == with);
}
