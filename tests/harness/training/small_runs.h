// Runs of the smoke profile for the tests of experiments.
#pragma once
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "harness/config/config.h"
#include "harness/training/experiment_observer.h"
#include "results/types/experiment_result.h"

namespace posbench {

RunConfig small_config(const std::string& tasks, const std::string& encodings);

/// Returns the result of a run of one experiment.
ExperimentResult run_alone(const RunConfig&);

/// Returns the message with which these settings are refused for an encoding, or an empty text.
std::string settings_refusal(const std::string& encoding, const Settings&);

/// Collects the results of a suite.
class Results final : public ExperimentObserver {
 public:
  void on_finished(const std::vector<ExperimentResult>& results, double) override {
    const std::lock_guard lock(mutex_);
    for (const ExperimentResult& result : results) {
      in_order.push_back(result);
      by_id[result.id] = result;
    }
  }

  std::vector<ExperimentResult> in_order;
  std::map<ExperimentId, ExperimentResult> by_id;

 private:
  std::mutex mutex_;
};

}  // namespace posbench
