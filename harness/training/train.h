// Trains one model at one learning rate, with validation.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "base/thread_pool.h"
#include "harness/training/make_model.h"
#include "harness/training/options.h"
#include "harness/training/samples.h"
#include "model/optimizer.h"
#include "results/types/experiment_result.h"

namespace posbench {

/// The state of a training run between two steps. A training run that continues from it ends in the same bytes.
struct TrainingState {
  /// Starts at the learning rate with index `rate` of the options.
  TrainingState(const Model&, const TrainingOptions&, std::uint64_t seed, size_t rate = 0);

  double learning_rate;  // the peak
  Parameters parameters;
  OptimizerState optimizer;
  int step = 0;         // updates done
  int end = 0;          // the step at which training ends, as far as is known
  double loss = 0;      // of the last update
  double loss_sum = 0;  // since the last validation
  int loss_count = 0;
  int perfect_validations = 0;  // in a row
  std::vector<CurvePoint> curve;
  bool stopped_early = false;
  std::optional<int> diverged_step;
};

/// Trains up to options.steps. Doubles them while options.extend_while_gaining allows it and the model still
/// gains. Calls `on_step` after each step, and stops if it returns false; a later call resumes from the state.
/// Returns whether training is finished. The threads of the pool compute the groups of a batch (options.groups)
/// and the sequences of a validation. The state does not depend on their number.
bool train(const Model&, const TrainingStreams&, const TrainingOptions&, TrainingState&,
           const std::function<bool(const TrainingState&)>& on_step = {}, ThreadPool& = calling_thread());

}  // namespace posbench
