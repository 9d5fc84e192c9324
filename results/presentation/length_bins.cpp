#include "results/presentation/length_bins.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

namespace posbench {
namespace {

constexpr std::int64_t kMax = 8;  // bins of one split
constexpr std::int64_t kFew = 25;  // cases that a bin should have, for each experiment

/// What is known of one length, distance or position, or of several together. Sums over scored positions are NaN where
/// they are not known.
struct Value {
  Count token;
  double loss = 0, margin = 0;

  template <class Result>
  static Value of(const Result& result) {
    const double cases = static_cast<double>(result.token.total);
    constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
    return {result.token, result.loss.value_or(kUnknown) * cases, result.margin.value_or(kUnknown) * cases};
  }
  Value& operator+=(const Value& other) {
    token += other.token, loss += other.loss, margin += other.margin;
    return *this;
  }
};

/// Calls f(place, value) for each length, distance or position of a split.
template <class F>
void for_each_value(const SplitResult& split, Axis axis, F f) {
  switch (axis) {
    case Axis::length:
      for (const LengthResult& result : split.by_length) f(result.length, Value::of(result));
      break;
    case Axis::distance:
      for (const DistanceResult& result : split.by_distance) f(result.distance, Value::of(result));
      break;
    case Axis::position:
      for (const PositionResult& result : split.by_position) f(result.position, Value::of(result));
  }
}

/// The value of one experiment at each length, distance or position, in the first split that tests it.
std::map<int, Value> values_of(const ExperimentResult& experiment, Axis axis) {
  std::map<int, Value> values;
  for (const SplitResult& split : experiment.splits) {
    for_each_value(split, axis, [&](int place, const Value& value) { values.emplace(place, value); });
  }
  return values;
}

/// Empty of nothing, and where one is not known.
std::optional<double> known_mean(const std::vector<double>& values) {
  const double all = mean(values);
  return std::isfinite(all) ? std::optional(all) : std::nullopt;
}

Interval interval(const std::vector<double>& seeds, Count count) {
  const std::optional<Interval> interval = t_interval(seeds);
  if (!interval) return wilson(count);
  return {std::max(0.0, interval->low), std::min(1.0, interval->high)};
}

}  // namespace

std::vector<LengthBin> length_bins(const std::vector<const ExperimentResult*>& of_task, Axis axis) {
  struct Range {
    int from, to;
    bool trained;
  };
  std::map<size_t, Range> ranges;              // of each split, in the order of the task
  std::map<int, std::int64_t> cases_by_value;  // over all experiments
  std::int64_t finished = 0;
  for (const ExperimentResult* experiment : of_task) {
    finished += experiment->status == Status::ok;
    for (const auto& [place, value] : values_of(*experiment, axis)) cases_by_value[place] += value.token.total;
    for (size_t s = 0; s < experiment->splits.size(); ++s) {
      const SplitResult& split = experiment->splits[s];
      const Range empty{std::numeric_limits<int>::max(), -1, split.kind == SplitKind::in_distribution};
      Range& range = ranges.try_emplace(s, empty).first->second;
      for_each_value(split, axis, [&](int place, const Value&) {
        range.from = std::min(range.from, place), range.to = std::max(range.to, place);
      });
    }
  }

  struct Group {  // adjacent values in the range of one split, the first that covers them
    size_t split = 0;
    std::int64_t cases = 0;
    std::vector<std::pair<int, std::int64_t>> places;
  };
  std::vector<Group> groups;
  for (const auto& [place, cases] : cases_by_value) {
    const int at = place;
    const auto within = [at](const auto& range) { return range.second.from <= at && at <= range.second.to; };
    const size_t split = std::find_if(ranges.begin(), ranges.end(), within)->first;
    if (groups.empty() || groups.back().split != split) groups.push_back({.split = split});
    groups.back().cases += cases;
    groups.back().places.emplace_back(place, cases);
  }

  std::vector<LengthBin> length_bins;
  const std::int64_t few = kFew * finished;
  for (const Group& group : groups) {
    const bool trained = ranges.at(group.split).trained;
    const bool joins = group.cases < few && !length_bins.empty() && length_bins.back().trained == trained;
    const std::int64_t parts = std::clamp<std::int64_t>(group.cases / few, 1, kMax);
    const std::int64_t each = std::max<std::int64_t>(1, (group.cases + parts - 1) / parts);
    std::int64_t before = 0, part = joins ? 0 : -1;
    for (const auto& [place, cases] : group.places) {  // a new bin begins with each of `parts` equal parts
      const std::int64_t share = std::min(parts - 1, before / each);
      if (share != part) length_bins.push_back({place, place, trained});
      length_bins.back().to = place;
      part = share;
      before += cases;
    }
  }
  return length_bins;
}

std::vector<std::optional<BinAccuracy>> accuracies(const std::vector<LengthBin>& length_bins,
                                                       const std::vector<const ExperimentResult*>& of_encoding,
                                                       Axis axis) {
  std::vector<std::vector<double>> values(length_bins.size());  // one for each seed
  std::vector<std::vector<double>> losses(length_bins.size()), margins(length_bins.size());  // of seeds that finished
  std::vector<Count> pooled(length_bins.size());
  for (const ExperimentResult* experiment : of_encoding) {
    const std::map<int, Value> of_experiment = values_of(*experiment, axis);
    for (size_t i = 0; i < length_bins.size(); ++i) {
      Value bin;
      for (auto at = of_experiment.lower_bound(length_bins[i].from);
           at != of_experiment.end() && at->first <= length_bins[i].to; ++at) {
        if (at->second.token.total > 0) bin += at->second;
      }
      pooled[i] += bin.token;
      if (bin.token.total > 0) {
        const double cases = static_cast<double>(bin.token.total);
        values[i].push_back(accuracy(bin.token));
        losses[i].push_back(bin.loss / cases);
        margins[i].push_back(bin.margin / cases);
      }
      if (experiment->status != Status::ok) values[i].push_back(0);
    }
  }
  std::vector<std::optional<BinAccuracy>> result(length_bins.size());
  for (size_t i = 0; i < length_bins.size(); ++i) {
    if (pooled[i].total == 0) continue;
    result[i] = {.mean = mean(values[i]),
                 .interval = interval(values[i], pooled[i]),
                 .seeds = static_cast<int>(values[i].size()),
                 .cases = pooled[i].total,
                 .loss = known_mean(losses[i]),
                 .margin = known_mean(margins[i])};
  }
  return result;
}

}  // namespace posbench
