// Has an encoding learned a task at all? Out of distribution that decides what an accuracy says: of the encoding,
// or of training that ended too early.
#pragma once
#include <optional>
#include <span>

#include "results/types/report.h"

namespace posbench {

constexpr double kLearned = 0.95;  // the sequence accuracy in distribution from which a seed has learned its task
constexpr double kLateTraining = 0.4;  // the last fraction of training, whose gain tells who was still learning

struct Learned {
  Count seeds;  // with kLearned or more on every split in distribution, out of all
  /// What sequence accuracy in validation gained over the last 40 % of training, a mean over the experiments that
  /// have a learning curve; nothing where none has.
  std::optional<double> late_gain;

  /// At least half of the seeds have. With no split in distribution there is nothing to learn, and all have.
  bool most() const { return 2 * seeds.correct >= seeds.total; }
};

/// Of experiments on one task with one encoding.
Learned find_learned(const TaskBaseline&, std::span<const ExperimentResult* const>);

}  // namespace posbench
