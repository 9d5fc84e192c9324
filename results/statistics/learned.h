// Whether an encoding has learned a task at all. If not, its accuracy out of distribution may be low because
// training was too short, and allows no conclusion about the encoding.
#pragma once
#include <optional>
#include <span>

#include "results/types/report.h"

namespace posbench {

constexpr double kLearned = 0.95;  // the sequence accuracy in distribution from which a seed has learned its task
constexpr double kLateTraining = 0.4;  // the last fraction of training, whose gain shows whether learning had ended

struct Learned {
  Count seeds;  // with kLearned or more on every split in distribution, out of all
  /// The gain of sequence accuracy in validation over the last 40 % of training, as a mean over the experiments that
  /// have a learning curve; empty if none has.
  std::optional<double> late_gain;

  /// Whether at least half of the seeds have learned it. Without a split in distribution all have.
  bool most() const { return 2 * seeds.correct >= seeds.total; }
};

/// For experiments of a report on one task with one encoding. For extensions of trained models: whether their parent has
/// learned the task.
Learned find_learned(const Report&, const TaskBaseline&, std::span<const ExperimentResult* const>);

}  // namespace posbench
