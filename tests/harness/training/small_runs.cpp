#include "tests/harness/training/small_runs.h"

#include <string>

#include "base/error.h"
#include "harness/runs/suite.h"
#include "harness/training/run_experiment.h"
#include "harness/training/task_setup.h"
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

std::string settings_refusal(const std::string& encoding, const Settings& settings) {
  try {
    ExperimentOptions options;
    for (const auto& [name, value] : settings) options.set(name, value);
    check_encoding(make_task_setup(options, "flip_flop:length=8"), Spec::parse(encoding));
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace posbench
