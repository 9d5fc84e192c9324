// Defines an experiment: a task, an encoding and a seed.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/training/extension.h"
#include "harness/training/task_setup.h"

namespace posbench {

/// Multiply-adds of an experiment, by which its time is estimated (harness/runs/task_products.h).
struct Cost {
  double training = 0, tests = 0;  // optimizer steps; validations and tests

  double all() const { return training + tests; }
};

constexpr std::uint64_t kFirstTuningSeed = 1'000'000'000;

/// The learning rate that the tuning seeds chose, and their mean result at every rate. The rate is 0 until they
/// are trained.
struct TunedRate {
  double learning_rate = 0;
  std::vector<RateResult> tried = {};
};

struct Experiment {
  const TaskSetup* task = nullptr;
  Spec encoding;
  std::uint64_t seed = 0;
  std::optional<Swept> swept = std::nullopt;  // the point of a sweep over settings; not of learning rates
  std::optional<int> steps = std::nullopt;    // of training, if they are not those of the task
  std::vector<Extension> extensions = {};
  Cost cost = {};
  bool tuning = false;                            // trained only to choose the learning rate of other seeds
  std::optional<TunedRate> tuned = std::nullopt;  // with training.tuning_seeds, if it is not one of them
  size_t unit = 0;                                // a shard has whole units
  std::string encoding_text = encoding.text();    // written once, because ids are asked for often

  /// Returns the settings of training.
  TrainingOptions settings() const {
    TrainingOptions options = task->options.training;
    options.steps = steps.value_or(options.steps);
    return options;
  }
  /// Returns the settings with the learning rate of the tuning seeds.
  TrainingOptions training() const {
    TrainingOptions options = settings();
    if (tuned) options.learning_rates = {tuned->learning_rate};
    return options;
  }
  ExperimentId id() const { return {task->spec, encoding_text, seed}; }
  /// Returns the ids of all its results: first the experiment itself, then its extensions.
  std::vector<ExperimentId> ids() const {
    std::vector<ExperimentId> ids{id()};
    for (const Extension& extension : extensions)
      ids.push_back({task->spec, extension.label(encoding_text), seed});
    return ids;
  }
};

}  // namespace posbench
