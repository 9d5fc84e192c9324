#include "results/types/experiment_result.h"

#include <fmt/format.h>

#include <limits>
#include <stdexcept>

namespace posbench {

double accuracy(Count count) {
  if (count.total == 0) return std::numeric_limits<double>::quiet_NaN();
  return static_cast<double>(count.correct) / static_cast<double>(count.total);
}

const std::vector<std::string>& status_names() {
  static const std::vector<std::string> names{"ok", "diverged", "failed"};
  return names;
}

const std::vector<std::string>& split_kind_names() {
  static const std::vector<std::string> names{"in_distribution", "out_of_distribution"};
  return names;
}

std::string to_text(Status status) { return status_names()[static_cast<size_t>(status)]; }
std::string to_text(SplitKind kind) { return split_kind_names()[static_cast<size_t>(kind)]; }

std::string to_text(Metric metric) { return metric == Metric::token ? "token" : "sequence"; }

std::string spec_name(const std::string& spec) { return spec.substr(0, spec.find(':')); }

std::optional<Count> split_count(const ExperimentResult& experiment, const std::string& split, Metric metric) {
  if (experiment.status != Status::ok) return std::nullopt;
  for (const SplitResult& result : experiment.splits) {
    if (result.name == split) return metric == Metric::token ? result.token : result.sequence;
  }
  throw std::out_of_range(fmt::format("no split '{}' in an experiment on '{}'", split, experiment.id.task));
}

double split_accuracy(const ExperimentResult& experiment, const std::string& split, Metric metric) {
  const std::optional<Count> count = split_count(experiment, split, metric);
  return count ? accuracy(*count) : 0;
}

}  // namespace posbench
