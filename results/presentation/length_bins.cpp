#include "results/presentation/length_bins.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "results/statistics/statistics.h"

namespace posbench {
namespace {

constexpr std::int64_t kMax = 8;   // bins of one split
constexpr std::int64_t kFew = 25;  // cases that a bin should have, for each experiment

/// The results of one length, distance or position, or the sum of several.
struct Value {
  Count token;
  double loss = 0, margin = 0;  // sums over scored positions; NaN if unknown

  template <class Result>
  static Value of(const Result& result) {
    const double cases = static_cast<double>(result.token.total);
    constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
    return {result.token, result.loss.value_or(kUnknown) * cases, result.margin.value_or(kUnknown) * cases};
  }
  Value& operator+=(const Value& other) {
    if (other.token.total == 0) return *this;
    token += other.token, loss += other.loss, margin += other.margin;
    return *this;
  }
  double mean(Metric metric) const {
    if (metric == Metric::token) return accuracy(token);
    return (metric == Metric::loss ? loss : margin) / static_cast<double>(token.total);
  }
};

/// Calls f(at, value) for each length, distance or position of a split.
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

/// Returns the index of a split among the given ones; their number if it is none of them.
size_t split_index(const SplitResult& split, const std::vector<std::string>& splits) {
  return static_cast<size_t>(std::ranges::find(splits, split.name) - splits.begin());
}

/// Returns the value of one experiment at each length, distance or position, in the first of the splits that tests
/// it.
std::map<int, Value> values_of(const ExperimentResult& experiment, Axis axis,
                               const std::vector<std::string>& splits) {
  std::map<int, Value> values;
  for (const SplitResult& split : experiment.splits) {
    if (split_index(split, splits) == splits.size()) continue;
    for_each_value(split, axis, [&](int at, const Value& value) { values.emplace(at, value); });
  }
  return values;
}

}  // namespace

std::vector<LengthGroup> length_groups(const Experiments& of_task) {
  std::vector<std::pair<std::string, std::pair<int, int>>> ranges;  // of lengths, by split
  for (const ExperimentResult* experiment : of_task) {
    for (const SplitResult& split : experiment->splits) {
      auto found = std::ranges::find(ranges, split.name, [](const auto& range) { return range.first; });
      if (found == ranges.end()) found = ranges.insert(found, {split.name, {std::numeric_limits<int>::max(), 0}});
      if (split.by_length.empty()) continue;
      auto& [from, to] = found->second;
      from = std::min(from, split.by_length.front().length), to = std::max(to, split.by_length.back().length);
    }
  }
  std::vector<LengthGroup> groups;
  for (const auto& [split, range] : ranges) {
    const bool known = range.first <= range.second;
    const auto same = [&, &range = range](const LengthGroup& group) {
      return known && group.from == range.first && group.to == range.second;
    };
    auto found = std::ranges::find_if(groups, same);
    if (found == groups.end())
      found = groups.insert(found, {known ? range.first : 0, known ? range.second : 0, {}});
    found->splits.push_back(split);
  }
  return groups;
}

std::vector<LengthBin> length_bins(const Experiments& of_task, Axis axis, const std::vector<std::string>& splits) {
  struct Range {
    int from = std::numeric_limits<int>::max(), to = -1;
    bool trained = false;
  };
  std::vector<Range> ranges(splits.size());
  std::map<int, std::int64_t> cases_by_value;  // over all experiments
  std::int64_t finished = 0;
  for (const ExperimentResult* experiment : of_task) {
    finished += experiment->status == Status::ok;
    for (const auto& [at, value] : values_of(*experiment, axis, splits)) cases_by_value[at] += value.token.total;
    for (const SplitResult& split : experiment->splits) {
      const size_t index = split_index(split, splits);
      if (index == splits.size()) continue;
      Range& range = ranges[index];
      range.trained = split.kind == SplitKind::in_distribution;
      for_each_value(split, axis, [&](int at, const Value&) {
        range.from = std::min(range.from, at), range.to = std::max(range.to, at);
      });
    }
  }

  struct Group {  // adjacent values in the range of one split, the first that covers them
    size_t split = 0;
    std::int64_t cases = 0;
    std::vector<std::pair<int, std::int64_t>> values;
  };
  std::vector<Group> groups;
  for (const auto& [value, cases] : cases_by_value) {
    const int at = value;
    const auto within = [at](const Range& range) { return range.from <= at && at <= range.to; };
    const auto split = static_cast<size_t>(std::ranges::find_if(ranges, within) - ranges.begin());
    if (groups.empty() || groups.back().split != split) groups.push_back({.split = split});
    groups.back().cases += cases;
    groups.back().values.emplace_back(at, cases);
  }

  std::vector<LengthBin> length_bins;
  const std::int64_t few = kFew * finished;
  for (const Group& group : groups) {
    const bool trained = ranges.at(group.split).trained;
    const bool joins = group.cases < few && !length_bins.empty() && length_bins.back().trained == trained;
    const std::int64_t parts = std::clamp<std::int64_t>(group.cases / few, 1, kMax);
    const std::int64_t each = std::max<std::int64_t>(1, (group.cases + parts - 1) / parts);
    std::int64_t before = 0, part = joins ? 0 : -1;
    for (const auto& [at, cases] : group.values) {  // a new bin begins with each of `parts` equal parts
      const std::int64_t share = std::min(parts - 1, before / each);
      if (share != part) length_bins.push_back({at, at, trained, splits[group.split]});
      length_bins.back().to = at;
      part = share;
      before += cases;
    }
  }
  return length_bins;
}

std::vector<std::optional<BinValue>> bin_values(const std::vector<LengthBin>& length_bins,
                                                const Experiments& of_encoding, Axis axis,
                                                const std::vector<std::string>& splits, Metric metric) {
  std::vector<BinValue> bins(length_bins.size());
  for (const ExperimentResult* experiment : of_encoding) {
    const std::map<int, Value> values = values_of(*experiment, axis, splits);
    for (size_t i = 0; i < length_bins.size(); ++i) {
      Value bin;
      for (auto at = values.lower_bound(length_bins[i].from); at != values.end() && at->first <= length_bins[i].to;
           ++at) {
        bin += at->second;
      }
      bins[i].cases += bin.token.total;
      if (bin.token.total > 0) bins[i].values.push_back(bin.mean(metric));
      if (experiment->status != Status::ok && metric == Metric::token) bins[i].values.push_back(0);
    }
  }
  std::vector<std::optional<BinValue>> result(length_bins.size());
  for (size_t i = 0; i < length_bins.size(); ++i) {
    if (bins[i].values.empty()) continue;
    bins[i].mean = mean(bins[i].values);
    if (std::isfinite(bins[i].mean)) result[i] = std::move(bins[i]);
  }
  return result;
}

}  // namespace posbench
