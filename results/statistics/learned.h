// Decides if an encoding has learned a task: at least half of its seeds have a sequence accuracy of kLearned on
// every split in distribution. If not, its accuracy out of distribution may be low because training was too short,
// and then it says nothing about the encoding.
#pragma once
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "results/types/learning_curve.h"
#include "results/types/report.h"

namespace posbench {

constexpr double kSolved = 0.99;  // the sequence accuracy from which a split is solved

/// Returns the mark of a task that models are not expected to learn, given its spec: "control" or "open". Returns
/// an empty text for other tasks. An empty function marks no task.
using FindMark = std::function<std::string(const std::string& task)>;

struct Learned {
  Count seeds;  // with kLearned or more on every split in distribution, out of all
  /// The gain of sequence accuracy in validation over the last 40 % of training, as a mean over the experiments
  /// that have a learning curve; empty if none has.
  std::optional<double> late_gain;

  /// Returns true if at least half of the seeds have learned it. Without a split in distribution all have.
  bool by_half_the_seeds() const { return 2 * seeds.correct >= seeds.total; }
};

/// Returns the result for experiments of a report on one task with one encoding. Extensions of trained models have
/// learned a task if their parent has.
Learned find_learned(const Report&, const TaskBaseline&, std::span<const ExperimentResult* const>);

}  // namespace posbench
