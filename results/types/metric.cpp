#include "results/types/metric.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace posbench {
namespace {

template <Count SplitResult::*count>
std::optional<double> accuracy_of(const SplitResult& split) {
  return accuracy(split.*count);
}

template <Count SplitResult::*count>
std::int64_t cases_of(const SplitResult& split) {
  return (split.*count).total;
}

/// Returns the mean of the accuracies at each length, however many sequences have it.
template <Count LengthResult::*count>
std::optional<double> mean_over_lengths(const SplitResult& split) {
  double sum = 0;
  int lengths = 0;
  for (const LengthResult& at : split.by_length) {
    if ((at.*count).total == 0) continue;
    sum += accuracy(at.*count);
    ++lengths;
  }
  if (lengths == 0) return std::nullopt;
  return sum / lengths;
}

std::int64_t none(const SplitResult&) { return 0; }

}  // namespace

const std::vector<MetricInfo>& metrics() {
  static const std::vector<MetricInfo> all{
      {.metric = Metric::sequence,
       .name = "sequence",
       .title = "sequence accuracy",
       .definition = "the fraction of test sequences whose scored positions are all right",
       .value = accuracy_of<&SplitResult::sequence>,
       .cases = cases_of<&SplitResult::sequence>},
      {.metric = Metric::token,
       .name = "token",
       .title = "token accuracy",
       .definition = "the fraction of scored positions whose token with the largest logit is the answer",
       .value = accuracy_of<&SplitResult::token>,
       .cases = cases_of<&SplitResult::token>},
      {.metric = Metric::sequence_over_lengths,
       .name = "sequence_over_lengths",
       .title = "mean over lengths of the sequence accuracy",
       .definition =
           "the sequence accuracy at each tested length, averaged over the lengths: each counts the same, "
           "however many sequences have it",
       .value = mean_over_lengths<&LengthResult::sequence>,
       .cases = cases_of<&SplitResult::sequence>},
      {.metric = Metric::token_over_lengths,
       .name = "token_over_lengths",
       .title = "mean over lengths of the token accuracy",
       .definition = "the token accuracy at each tested length, averaged over the lengths: each counts the same, "
                     "however many sequences have it",
       .value = mean_over_lengths<&LengthResult::token>,
       .cases = cases_of<&SplitResult::token>},
      {.metric = Metric::loss,
       .name = "loss",
       .title = "mean cross-entropy in nats",
       .definition =
           "the cross-entropy in nats, averaged over the scored positions; e to this power is the perplexity; "
           "a uniform guess has -log(chance)",
       .is_accuracy = false,
       .lower_is_better = true,
       .needs_learning = false,
       .value = [](const SplitResult& split) { return split.loss; },
       .cases = none,
       .guess = [](double chance) { return chance > 0 ? -std::log(chance) : 0; }},
      {.metric = Metric::margin,
       .name = "margin",
       .title = "mean margin of the answer's logit over the best other",
       .definition = "the logit of the answer minus the largest other logit, averaged over the scored positions; "
                     "it is above 0 where the answer is right",
       .is_accuracy = false,
       .needs_learning = false,
       .value = [](const SplitResult& split) { return split.margin; },
       .cases = none,
       .guess = [](double) { return 0.0; }},
      {.metric = Metric::effective_length,
       .name = "effective_length",
       .title = "effective length in multiples of the trained length",
       .definition =
           "the largest multiple of the trained length up to which a seed keeps a sequence accuracy of at least 0.9 at every tested "
           "length; 0 for a seed below 0.9 at the trained length; needs evaluation.grid",
       .is_accuracy = false,
       .value = [](const SplitResult&) { return std::optional<double>(); },
       .cases = none,
       .guess = [](double) { return 0.0; }},
  };
  return all;
}

const MetricInfo& metric_info(Metric metric) { return *std::ranges::find(metrics(), metric, &MetricInfo::metric); }

std::string to_string(Metric metric) { return metric_info(metric).name; }

const SplitResult* find_split(const ExperimentResult& experiment, const std::string& split) {
  if (experiment.status != Status::ok) return nullptr;
  for (const SplitResult& result : experiment.splits) {
    if (result.name == split) return &result;
  }
  throw std::out_of_range(fmt::format("no split '{}' in an experiment on '{}'", split, experiment.id.task));
}

std::optional<double> split_value(const ExperimentResult& experiment, const std::string& split, Metric metric) {
  const SplitResult* result = find_split(experiment, split);
  return result ? metric_info(metric).value(*result) : std::nullopt;
}

double split_accuracy(const ExperimentResult& experiment, const std::string& split, Metric metric) {
  return split_value(experiment, split, metric).value_or(0);
}

double mean_accuracy(const ExperimentResult& experiment, std::span<const std::string> splits, Metric metric) {
  double sum = 0;
  for (const std::string& split : splits) sum += split_accuracy(experiment, split, metric);
  return sum / static_cast<double>(splits.size());
}

double unfinished_value(Metric metric, double chance, std::span<const double> finished) {
  const MetricInfo& about = metric_info(metric);
  if (about.is_accuracy) return 0;
  double worst = about.guess(chance);
  for (const double value : finished)
    worst = about.lower_is_better ? std::max(worst, value) : std::min(worst, value);
  return worst;
}

}  // namespace posbench
