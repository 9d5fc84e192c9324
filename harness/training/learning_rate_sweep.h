// Trains one model at each of several learning rates and keeps the best.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "harness/training/experiment.h"
#include "harness/training/train.h"

namespace posbench {

/// The state of a sweep between two steps of a training. All learning rates have the same initial
/// values and the same samples.
struct LearningRateSweep {
  LearningRateSweep(const Model&, const TrainingOptions&, std::uint64_t seed);

  std::vector<RateResult> tried;      // results of the finished learning rates
  std::optional<TrainingState> best;  // the best of them
  TrainingState state;                // of the current learning rate
};

/// Returns the choice of several tuning seeds, by the mean of their validations. A rate that diverged for one of
/// them is worse than any that did not.
TunedRate choose_rate(const std::vector<const ExperimentResult*>&);

/// Trains at every learning rate of the options. The best rate has the highest sequence accuracy in its last
/// validation. Ties are broken by token accuracy, then by the lowest mean training loss since the previous
/// validation, then by the lowest rate. A rate that diverged is worse than any that did not. Calls `on_step` after
/// each step, and stops if it returns false; a later call resumes. Returns whether all rates are finished. The
/// pool is used as by train().
bool sweep_learning_rates(const Model&, const TrainingStreams&, const TrainingOptions&, LearningRateSweep&,
                          const std::function<bool(const LearningRateSweep&)>& on_step = {},
                          ThreadPool& = calling_thread());

}  // namespace posbench
