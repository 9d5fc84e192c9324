#include "results/presentation/length_bins.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

namespace posbench {
namespace {

constexpr std::int64_t kMax = 8;  // bins of one split
constexpr std::int64_t kFew = 25;  // cases that a bin should have, for each experiment

/// Calls f(value, count) for each length or distance of a split.
template <class F>
void for_each_value(const SplitResult& split, Axis axis, F f) {
  if (axis == Axis::length) {
    for (const LengthResult& result : split.by_length) f(result.length, result.token);
  } else {
    for (const DistanceResult& result : split.by_distance) f(result.distance, result.token);
  }
}

/// The count of one experiment at each length or distance, in the first split that tests it.
std::map<int, Count> counts(const ExperimentResult& experiment, Axis axis) {
  std::map<int, Count> counts;
  for (const SplitResult& split : experiment.splits) {
    for_each_value(split, axis, [&](int place, Count count) { counts.emplace(place, count); });
  }
  return counts;
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
    for (const auto& [place, count] : counts(*experiment, axis)) cases_by_value[place] += count.total;
    for (size_t s = 0; s < experiment->splits.size(); ++s) {
      const SplitResult& split = experiment->splits[s];
      const Range empty{std::numeric_limits<int>::max(), -1, split.kind == SplitKind::in_distribution};
      Range& range = ranges.try_emplace(s, empty).first->second;
      for_each_value(split, axis, [&](int place, Count) {
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
  std::vector<Count> pooled(length_bins.size());
  for (const ExperimentResult* experiment : of_encoding) {
    const std::map<int, Count> counts = posbench::counts(*experiment, axis);
    for (size_t i = 0; i < length_bins.size(); ++i) {
      Count count;
      for (auto at = counts.lower_bound(length_bins[i].from); at != counts.end() && at->first <= length_bins[i].to;
           ++at) {
        count += at->second;
      }
      pooled[i] += count;
      if (count.total > 0) values[i].push_back(accuracy(count));
      if (experiment->status != Status::ok) values[i].push_back(0);
    }
  }
  std::vector<std::optional<BinAccuracy>> result(length_bins.size());
  for (size_t i = 0; i < length_bins.size(); ++i) {
    if (pooled[i].total == 0) continue;
    result[i] = {mean(values[i]), interval(values[i], pooled[i]), static_cast<int>(values[i].size()),
                 pooled[i].total};
  }
  return result;
}

}  // namespace posbench
