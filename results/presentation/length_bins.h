// Sorts accuracy, loss and margin by length, distance or position in the answer into bins for plots.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "results/types/metric.h"
#include "results/types/report.h"

namespace posbench {

enum class Axis { length, distance, position };

/// Splits of a task whose sequences have the same range of lengths. Only these share a curve by distance, because
/// in longer sequences an encoding may fail because of the length.
struct LengthGroup {
  int from = 0, to = 0;             // lengths, both included; 0 to 0 where none is recorded
  std::vector<std::string> splits;  // in the order of the task
};
/// Groups the splits of a task by their range of lengths.
std::vector<LengthGroup> length_groups(const Experiments& of_task);

/// A range of lengths, distances or positions that a plot shows as one point, because single values have few
/// cases.
struct LengthBin {
  int from = 0, to = 0;  // both included
  bool trained = false;  // in distribution
  std::string split;     // the first that covers `from`
};

/// Returns the bins of some splits of a task, ascending: at most eight for each split. A length or distance that
/// several of the splits test belongs to the first of them.
std::vector<LengthBin> length_bins(const Experiments& of_task, Axis, const std::vector<std::string>& splits);

/// Token accuracy, loss or margin of one encoding in a bin.
struct BinValue {
  double mean = 0;             // over seeds
  std::vector<double> values;  // one for each seed
  std::int64_t cases = 0;      // scored positions
};

/// Returns a value for each bin; empty if no seed has a case in it, or one that has does not have the metric,
/// which is token, loss or margin. An experiment that did not finish has an accuracy of 0, and no loss or margin.
std::vector<std::optional<BinValue>> bin_values(const std::vector<LengthBin>&, const Experiments& of_encoding,
                                                Axis, const std::vector<std::string>& splits,
                                                Metric = Metric::token);

}  // namespace posbench
