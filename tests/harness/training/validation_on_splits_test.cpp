// Tests training.validate_splits, which adds the splits to the learning curve.
#include <filesystem>
#include <nlohmann/json.hpp>
#include <stop_token>
#include <utility>
#include <vector>

#include "harness/runs/checkpoint.h"
#include "harness/runs/suite.h"
#include "harness/training/run_experiment.h"
#include "results/reports/experiment_json.h"
#include "tests/catch.h"
#include "tests/harness/training/small_runs.h"
#include "tests/temporary.h"

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

TEST_CASE("training with validation on the splits is the same whether it was interrupted or not") {
  const TemporaryDirectory directory;
  RunConfig config = small_config("flip_flop", "rope");
  config.training.validate_splits = true;
  const Suite suite = make_suite(config);
  const Experiment& e = suite.experiments[0];
  const ExperimentResult whole = run_alone(config);
  std::stop_source stop;
  /// Stops in the middle of training with a checkpoint, or resumes from it.
  class Checkpoint final : public ExperimentObserver {
   public:
    Checkpoint(std::filesystem::path path, std::stop_source& stop) : path_(std::move(path)), stop_(stop) {}
    double on_start(const Experiment& experiment, const Model& model, LearningRateSweep& sweep) override {
      return resumes ? read_checkpoint(path_, experiment, model, sweep) : 0;
    }
    void on_step(const Experiment&, const LearningRateSweep& sweep) override {
      if (!resumes && sweep.state.step == 15) stop_.request_stop();
    }
    void on_checkpoint(const Experiment& experiment, const Model& model, const LearningRateSweep& sweep,
                       double seconds) override {
      if (!resumes) write_checkpoint(path_, experiment, model, sweep, seconds);
    }
    bool resumes = false;

   private:
    std::filesystem::path path_;
    std::stop_source& stop_;
  };
  Checkpoint observer(directory / "checkpoint", stop);
  CHECK(!run_experiment(e, observer, stop.get_token()));
  observer.resumes = true;
  CHECK(run_experiment(e, observer)->front() == whole);
}
