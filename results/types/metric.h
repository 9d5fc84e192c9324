// Defines the metrics of a split. A new metric is an enumerator and a row of metrics(): options, tables,
// summary and comparison read them from there. The curves of pages name their metrics themselves.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "results/types/experiment_result.h"

namespace posbench {

enum class Metric { sequence, token, sequence_over_lengths, token_over_lengths, loss, margin, effective_length };

struct MetricInfo {
  Metric metric;
  std::string name;         // in options and in JSON
  std::string title;        // in sentences
  std::string definition;   // how it is computed; `posbench show` prints it
  bool is_accuracy = true;  // a fraction of right answers; else a real number
  bool lower_is_better = false;
  bool needs_learning =
      true;  // out of distribution it says nothing about an encoding that has not learned the task
  /// Empty if the report does not have it. A split has no effective length, which belongs to the experiment
  /// (results/statistics/effective_length.h).
  std::optional<double> (*value)(const SplitResult&) = nullptr;
  std::int64_t (*cases)(const SplitResult&) = nullptr;  // the answers that an accuracy counts; 0 otherwise
  /// Returns the value of a uniform guess whose accuracy is `chance`. Null for accuracies.
  double (*guess)(double chance) = nullptr;
};

/// Returns all metrics, in the order in which options list them.
const std::vector<MetricInfo>& metrics();
const MetricInfo& metric_info(Metric);
std::string to_string(Metric);  // its name

/// Returns the result on a split of the task, or null if the experiment did not finish. Throws std::out_of_range
/// for an unknown split.
const SplitResult* find_split(const ExperimentResult&, const std::string& split);

/// Returns nothing if the experiment did not finish or its report does not have the metric.
std::optional<double> split_value(const ExperimentResult&, const std::string& split, Metric);
/// Returns the accuracy on a split, or 0 if the experiment did not finish.
double split_accuracy(const ExperimentResult&, const std::string& split, Metric);
/// Returns the mean of split_accuracy over splits, or NaN without splits.
double mean_accuracy(const ExperimentResult&, std::span<const std::string> splits, Metric);

/// Returns the value of an experiment that did not finish: an accuracy of 0, or for other metrics the worst value
/// of the finished ones or that of a uniform guess, whichever is worse. `chance` is the accuracy of a uniform
/// guess.
double unfinished_value(Metric, double chance, std::span<const double> finished);

}  // namespace posbench
