// Accuracy against length, or against distance, as a plot shows it.
#pragma once
#include <optional>
#include <vector>

#include "results/types/report.h"
#include "results/statistics/statistics.h"

namespace posbench {

enum class Axis { length, distance };

/// Neighbouring lengths or distances that a plot shows as one: single ones have few cases.
struct LengthBin {
  int from = 0, to = 0;  // both included
  bool trained = false;  // in distribution
};

/// The length_bins of a task, ascending: at most eight of each split. A place that several splits test counts as in
/// the first of them.
std::vector<LengthBin> length_bins(const std::vector<const ExperimentResult*>& of_task, Axis);

/// The token accuracy of one encoding in a stretch. An experiment that did not finish got nothing right.
struct BinAccuracy {
  double mean = 0;    // over seeds
  Interval interval;  // 95 %, by Student's t over seeds, within [0, 1]; of one seed, Wilson's
  int seeds = 0;
  std::int64_t cases = 0;  // scored positions
};

/// For each stretch; nothing where no seed has a case in it.
std::vector<std::optional<BinAccuracy>> accuracies(const std::vector<LengthBin>&,
                                                       const std::vector<const ExperimentResult*>& of_encoding,
                                                       Axis);

}  // namespace posbench
