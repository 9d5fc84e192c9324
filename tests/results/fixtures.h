// Reports for the tests.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "results/types/report.h"

namespace posbench {

/// Two tasks, two encodings, two seeds: everything that a report can hold. experiments[5] diverged, experiments[6]
/// failed.
Report small_report();

/// Returns a grid that has these sequence accuracies at the first multiples. It has an end that agrees with them.
GridResult drawn_grid(const std::string& option, const std::vector<double>& accuracies);

/// Sequence accuracy, drawn for a task, an encoding, a split and a seed.
using DrawAccuracy = std::function<double(int task, int encoding, int split, int seed)>;

/// tasks x encodings x 3 splits (in_distribution, ood_far, ood_sparse) x seeds, each split over 1000 sequences of
/// one scored position.
Report drawn_report(int tasks, int encodings, int seeds, const DrawAccuracy& draw);

}  // namespace posbench
