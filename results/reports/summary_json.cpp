#include "results/reports/summary_json.h"

#include <nlohmann/json.hpp>
#include <optional>

#include "results/reports/experiment_json.h"

namespace posbench {
namespace {

Json write_spread(const Spread& spread) {
  return {{"mean", six_decimals(spread.mean)},
          {"interval", write_interval(spread.interval)},
          {"values", write_list(spread.values, six_decimals)}};
}

Json write_split_summary(const SplitSummary& split) {
  Json json;
  json["name"] = split.name;
  json["kind"] = to_string(split.kind);
  json["token"] = write_spread(split.token);
  json["sequence"] = write_spread(split.sequence);
  json["above_trivial"] = write_spread(split.above_trivial);
  json["solved"] = six_decimals(split.solved);
  json["solved_interval"] = write_interval(split.solved_interval);
  for (const auto& [metric, spread] : split.others) json[to_string(metric)] = write_spread(spread);
  return json;
}

Json integer_or_null(const std::optional<int>& value) { return value ? Json(*value) : Json(nullptr); }

/// Writes null if nothing was recorded. The length, or an end of its interval, is null if it lies beyond the
/// tested lengths.
Json write_threshold_length(const std::optional<ThresholdLength>& fall) {
  if (!fall) return nullptr;
  Json json;
  json["at"] = integer_or_null(fall->at);
  json["interval"] = nullptr;
  if (fall->has_interval) {
    json["interval"] = {{"low", integer_or_null(fall->low)}, {"high", integer_or_null(fall->high)}};
  }
  json["tested_to"] = fall->tested_to;
  return json;
}

/// Writes a multiple of null if most seeds have not learned the task.
Json write_effective(const EffectiveLength& effective, bool is_learned) {
  Json json;
  json["multiple"] = is_learned ? Json(effective.multiple) : Json(nullptr);
  // Reports of older versions have the members interval and coverage, which are of the seeds alone.
  json["interval_of_seeds_and_tests"] = is_learned ? write_interval(effective.interval) : Json(nullptr);
  json["coverage_of_seeds_and_tests"] =
      effective.interval ? Json(six_decimals(effective.coverage)) : Json(nullptr);
  json["values"] = effective.values;
  json["tested_to"] = effective.tested_to;
  json["accuracy_at_4x"] = six_decimals_or_null(effective.accuracy);
  return json;
}

Json write_rank(const std::optional<MeanRank>& rank) {
  if (!rank) return nullptr;
  Json json;
  json["mean"] = six_decimals(rank->mean);
  json["interval"] = write_interval(rank->interval);
  json["tasks"] = rank->tasks;
  json["seeds"] = rank->seeds;
  return json;
}

Json write_learned(const Learned& learned) {
  return {{"seeds", learned.seeds.correct},
          {"of", learned.seeds.total},
          {"late_gain", six_decimals_or_null(learned.late_gain)}};
}

}  // namespace

Json write_interval(const std::optional<Interval>& interval) {
  if (!interval) return nullptr;
  return {{"low", six_decimals(interval->low)}, {"high", six_decimals(interval->high)}};
}

Json to_json(const SummaryRow& row) {
  Json json;
  json["task"] = row.task;
  json["encoding"] = row.encoding;
  if (row.swept) json["swept"] = to_json(*row.swept);
  if (row.extended) json["extends"] = to_json(*row.extended);
  json["seeds"] = row.seeds;
  json["diverged"] = row.diverged;
  json["failed"] = row.failed;
  json["learned"] = write_learned(row.learned);
  json["in_distribution"] = row.in_distribution ? write_split_summary(*row.in_distribution) : Json(nullptr);
  json["out_of_distribution"] =
      row.out_of_distribution ? write_split_summary(*row.out_of_distribution) : Json(nullptr);
  json["splits"] = write_list(row.splits, write_split_summary);
  json["falls_below_0.9"] = {{"length", write_threshold_length(row.length)},
                             {"distance", write_threshold_length(row.distance)}};
  const bool is_learned = row.learned.by_half_the_seeds();
  if (row.effective_length) json["effective_length"] = write_effective(*row.effective_length, is_learned);
  if (row.effective_far) json["effective_far"] = write_effective(*row.effective_far, is_learned);
  if (row.effective_distance) json["effective_distance"] = write_effective(*row.effective_distance, is_learned);
  return json;
}

Json to_json(const Ranking& ranking) {
  return {{"encoding", ranking.encoding},
          {"in_distribution", write_rank(ranking.in_distribution)},
          {"out_of_distribution", write_rank(ranking.out_of_distribution)}};
}

}  // namespace posbench
