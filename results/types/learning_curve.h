// Reads from a learning curve if training had learned its task, and if it still gained when it ended.
#pragma once
#include <optional>
#include <vector>

#include "results/types/experiment_result.h"

namespace posbench {

constexpr double kLearned = 0.95;  // the sequence accuracy in distribution from which a seed has learned its task
/// The last fraction of training, whose gain shows whether learning had ended.
constexpr double kLateTraining = 0.4;
/// The gain of sequence accuracy over this fraction from which a model still gains.
constexpr double kStillGains = 0.05;

/// Returns the gain of sequence accuracy in validation over the last 40 % of the steps. Validations are
/// interpolated linearly. Returns nothing for a curve with fewer than two points.
std::optional<double> late_gain(const std::vector<CurvePoint>&);

/// Returns true if the last validation is below kLearned, and the late gain is kStillGains or more.
bool is_unfinished(const std::vector<CurvePoint>&);

}  // namespace posbench
