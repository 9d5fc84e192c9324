#include "tests/harness/training/small_runs.h"

#include <string>

#include "harness/runs/suite.h"
#include "harness/training/run_experiment.h"
#include "tests/catch.h"

namespace posbench {

RunConfig small_config(const std::string& tasks, const std::string& encodings) {
  return make_config({.profile = "smoke", .tasks = tasks, .encodings = encodings});
}

ExperimentResult run_alone(const RunConfig& config) {
  const Suite suite = make_suite(config);
  REQUIRE(suite.experiments.size() == 1);
  return run_experiment(suite.experiments[0])->front();
}

}  // namespace posbench
