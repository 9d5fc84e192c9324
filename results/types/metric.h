// What a split is measured by. One more metric is one more enumerator and one more entry of metrics(): options, tables,
// summary, comparison and page data read them from there.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "results/types/experiment_result.h"

namespace posbench {

enum class Metric { sequence, token, sequence_over_lengths, token_over_lengths, loss, margin };

struct MetricInfo {
  Metric metric;
  std::string name;              // in options and in JSON
  std::string title;             // in sentences
  bool is_accuracy = true;       // a fraction of right answers; else a real number
  bool lower_is_better = false;
  std::optional<double> (*value)(const SplitResult&) = nullptr;  // empty if the report does not have it
  std::int64_t (*cases)(const SplitResult&) = nullptr;           // the answers that an accuracy counts; 0 otherwise
  double (*guess)(double chance) = nullptr;  // of a uniform guess whose accuracy is `chance`, where it is no accuracy
};

/// All metrics, in the order of the enumerators.
const std::vector<MetricInfo>& metrics();
const MetricInfo& info(Metric);
std::string to_text(Metric);  // its name
/// The metric of a name. Throws std::invalid_argument.
Metric parse_metric(const std::string& name);

/// The result on a split of the task; null if the experiment did not finish. Throws std::out_of_range for an unknown
/// split.
const SplitResult* find_split(const ExperimentResult&, const std::string& split);

/// Empty if the experiment did not finish, or its report does not have the metric.
std::optional<double> split_value(const ExperimentResult&, const std::string& split, Metric);
/// The accuracy on a split; 0 if the experiment did not finish.
double split_accuracy(const ExperimentResult&, const std::string& split, Metric);

/// What an experiment that did not finish counts with: an accuracy of 0; otherwise the worst of the finished ones, or
/// what a uniform guess reaches where that is worse. `chance`: its accuracy.
double unfinished_value(Metric, double chance, std::span<const double> finished);

}  // namespace posbench
