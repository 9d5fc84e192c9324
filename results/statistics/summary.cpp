#include "results/statistics/summary.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "results/statistics/proportion.h"

namespace posbench {
namespace {

struct Groups {
  std::vector<std::string> encodings;  // by their first experiment
  std::map<std::pair<std::string, std::string>, Experiments> by_task_and_encoding;
};

Groups group(const Report& report) {
  Groups groups;
  std::set<std::string> known;
  for (const ExperimentResult& experiment : report.experiments) {
    if (known.insert(experiment.id.encoding).second) groups.encodings.push_back(experiment.id.encoding);
    groups.by_task_and_encoding[{experiment.id.task, experiment.id.encoding}].push_back(&experiment);
  }
  return groups;
}

Spread spread(std::vector<double> values, Metric metric = Metric::sequence) {
  Spread spread{.values = std::move(values)};
  spread.mean = mean(spread.values);
  if (spread.values.size() >= 2) {
    spread.interval =
        metric_info(metric).is_accuracy ? bounded_mean_interval(spread.values) : t_interval(spread.values);
  }
  return spread;
}

/// Returns the values over seeds; empty if a finished experiment does not have the metric, or none finished.
std::optional<Spread> spread(const SplitBaseline& split, const Experiments& experiments, Metric metric) {
  std::vector<std::optional<double>> values;
  std::vector<double> finished, all;
  for (const ExperimentResult* experiment : experiments) {
    values.push_back(split_value(*experiment, split.name, metric));
    if (experiment->status != Status::ok) continue;
    if (!values.back()) return std::nullopt;
    finished.push_back(*values.back());
  }
  if (finished.empty()) return std::nullopt;
  const double unfinished = unfinished_value(metric, split.chance, finished);
  for (const std::optional<double>& value : values) all.push_back(value.value_or(unfinished));
  return spread(std::move(all), metric);
}

void count_solved(const Spread& sequence, SplitSummary& summary) {
  Count seeds;
  for (const double accuracy : sequence.values) seeds += {accuracy >= kSolved, 1};
  summary.solved = accuracy(seeds);
  summary.solved_interval = clopper_pearson_interval(seeds);
}

SplitSummary summarize(const SplitBaseline& baseline, const Experiments& experiments) {
  std::vector<double> token, sequence, above;
  for (const ExperimentResult* experiment : experiments) {
    token.push_back(split_accuracy(*experiment, baseline.name, Metric::token));
    sequence.push_back(split_accuracy(*experiment, baseline.name, Metric::sequence));
    above.push_back(above_trivial(baseline, token.back()));
  }
  SplitSummary summary{.name = baseline.name,
                       .kind = baseline.kind,
                       .token = spread(std::move(token)),
                       .sequence = spread(std::move(sequence)),
                       .above_trivial = spread(std::move(above))};
  for (const MetricInfo& metric : metrics()) {
    if (summary.spread(metric.metric)) continue;
    if (std::optional<Spread> found = spread(baseline, experiments, metric.metric))
      summary.others.emplace(metric.metric, std::move(*found));
  }
  count_solved(summary.sequence, summary);
  return summary;
}

/// Returns the mean over the splits of a kind, seed by seed; a seed solves them where it solves each.
std::optional<SplitSummary> summarize(SplitKind kind, const std::vector<SplitSummary>& splits) {
  std::vector<const SplitSummary*> chosen;
  for (const SplitSummary& split : splits) {
    if (split.kind == kind) chosen.push_back(&split);
  }
  if (chosen.empty()) return std::nullopt;
  const auto over = [&](auto spread_of, auto fold, Metric metric) {
    std::vector<double> values(spread_of(*chosen.front()).values.size());
    for (size_t seed = 0; seed < values.size(); ++seed) {
      std::vector<double> of_seed;
      for (const SplitSummary* split : chosen) of_seed.push_back(spread_of(*split).values[seed]);
      values[seed] = fold(of_seed);
    }
    return spread(std::move(values), metric);
  };
  const auto over_splits = [&](Spread SplitSummary::*accuracy, auto fold) {
    return over([&](const SplitSummary& split) { return split.*accuracy; }, fold, Metric::sequence);
  };
  const auto least = [](const std::vector<double>& x) { return *std::ranges::min_element(x); };
  SplitSummary summary{.name = to_string(kind),
                       .kind = kind,
                       .token = over_splits(&SplitSummary::token, mean),
                       .sequence = over_splits(&SplitSummary::sequence, mean),
                       .above_trivial = over_splits(&SplitSummary::above_trivial, mean)};
  for (const MetricInfo& metric : metrics()) {
    const auto has = [&](const SplitSummary* split) { return split->others.contains(metric.metric); };
    if (!std::ranges::all_of(chosen, has)) continue;
    const auto spread_of = [&](const SplitSummary& split) { return split.others.at(metric.metric); };
    summary.others.emplace(metric.metric, over(spread_of, mean, metric.metric));
  }
  count_solved(over_splits(&SplitSummary::sequence, least), summary);
  return summary;
}

Curve by_length(const ExperimentResult& experiment) {
  Curve curve;
  for (const SplitResult& split : experiment.splits) {
    for (const LengthResult& result : split.by_length) curve.emplace(result.length, result.token);
  }
  return curve;
}

int greatest_length(const SplitResult& split) {
  return split.by_length.empty() ? 0 : split.by_length.back().length;
}

Curve by_distance(const ExperimentResult& experiment) {
  Curve curve;
  for (const SplitResult& split : experiment.splits) {
    if (greatest_length(split) > greatest_length(experiment.splits.front())) continue;
    for (const DistanceResult& result : split.by_distance) curve.emplace(result.distance, result.token);
  }
  return curve;
}

std::optional<ThresholdLength> find_threshold_length(const Experiments& experiments,
                                                     Curve (*curve)(const ExperimentResult&)) {
  std::vector<Curve> curves;
  Curve nothing_right;  // the scored positions of an experiment that did not finish, all of them wrong
  for (const ExperimentResult* experiment : experiments) {
    if (experiment->status != Status::ok) continue;
    nothing_right = curves.emplace_back(curve(*experiment));
  }
  for (auto& [length, count] : nothing_right) count.correct = 0;
  curves.resize(experiments.size(), nothing_right);
  return find_threshold_length(curves);
}

SummaryRow summarize(const Report& report, const TaskBaseline& task, const Experiments& experiments) {
  const ExperimentResult& first = *experiments.front();
  SummaryRow row{
      .task = task.task, .encoding = first.id.encoding, .swept = first.swept, .extended = first.extended};
  for (const ExperimentResult* experiment : experiments) {
    row.seeds.push_back(experiment->id.seed);
    row.diverged += experiment->status == Status::diverged;
    row.failed += experiment->status == Status::failed;
  }
  row.learned = find_learned(report, task, experiments);
  for (const SplitBaseline& split : task.splits) row.splits.push_back(summarize(split, experiments));
  row.in_distribution = summarize(SplitKind::in_distribution, row.splits);
  row.out_of_distribution = summarize(SplitKind::out_of_distribution, row.splits);
  row.length = find_threshold_length(experiments, by_length);
  row.distance = find_threshold_length(experiments, by_distance);
  row.effective_length = find_effective_length(experiments, "length");
  row.effective_far = find_effective_length(experiments, kFarGrid);
  row.effective_distance = find_effective_length(experiments, "distance");
  return row;
}

using KindSummary = std::optional<SplitSummary> SummaryRow::*;

/// Returns the accuracies of all seeds. Out of distribution, those of a row that has not learned its task are
/// below any accuracy: one from too little training would otherwise rank above one of a trained model.
std::vector<double> ranked_values(const SummaryRow& row, const SplitSummary& kind) {
  const bool counts = kind.kind == SplitKind::in_distribution || row.learned.by_half_the_seeds();
  return counts ? kind.sequence.values : std::vector<double>(kind.sequence.values.size(), -1);
}

std::vector<std::optional<MeanRank>> rank_by(const Report& report, const Summary& summary,
                                             const std::vector<std::string>& encodings, KindSummary kind) {
  std::map<std::string, size_t> task_index, encoding_index;
  for (const TaskBaseline& task : report.tasks) task_index.emplace(task.task, task_index.size());
  for (const std::string& encoding : encodings) encoding_index.emplace(encoding, encoding_index.size());
  std::vector values(task_index.size(), std::vector<std::vector<double>>(encodings.size()));
  for (const SummaryRow& row : summary.rows) {
    if (row.*kind) values[task_index[row.task]][encoding_index[row.encoding]] = ranked_values(row, *(row.*kind));
  }
  return rank_encodings(values);
}

}  // namespace

const Spread* SplitSummary::spread(Metric metric) const {
  if (metric == Metric::sequence) return &sequence;
  if (metric == Metric::token) return &token;
  const auto found = others.find(metric);
  return found == others.end() ? nullptr : &found->second;
}

double above_trivial(const SplitBaseline& split, double token_accuracy) {
  double trivial = split.chance;
  for (const auto& [predictor, accuracy] : split.trivial) {
    if (accuracy < kSolved) trivial = std::max(trivial, accuracy);
  }
  return trivial < 1 ? std::clamp((token_accuracy - trivial) / (1 - trivial), 0.0, 1.0) : 0;
}

Summary summarize(const Report& report) {
  const Groups groups = group(report);
  Summary summary;
  for (const TaskBaseline& task : report.tasks) {
    for (const std::string& encoding : groups.encodings) {
      const auto found = groups.by_task_and_encoding.find({task.task, encoding});
      if (found != groups.by_task_and_encoding.end())
        summary.rows.push_back(summarize(report, task, found->second));
    }
  }
  const auto in = rank_by(report, summary, groups.encodings, &SummaryRow::in_distribution);
  const auto out = rank_by(report, summary, groups.encodings, &SummaryRow::out_of_distribution);
  for (size_t i = 0; i < in.size(); ++i) summary.ranking.push_back({groups.encodings[i], in[i], out[i]});
  return summary;
}

const SummaryRow* find_row(const Summary& summary, const std::string& task, const std::string& encoding) {
  const auto same = [&](const SummaryRow& row) { return row.task == task && row.encoding == encoding; };
  const auto found = std::ranges::find_if(summary.rows, same);
  return found == summary.rows.end() ? nullptr : &*found;
}

}  // namespace posbench
