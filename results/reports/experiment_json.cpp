#include "results/reports/experiment_json.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "results/statistics/statistics.h"

namespace posbench {
namespace {

// Rounds derived numbers, since most of a report's bytes are such numbers.
double round_to(double x, double unit) { return std::round(x * unit) / unit; }

Json write_count(Count count) {
  Json::object_t json;
  json.reserve(6);  // a report has hundreds of counts for each experiment
  json["correct"] = count.correct;
  json["total"] = count.total;
  if (count.total == 0) {
    json["accuracy"] = nullptr;
    json["reason"] = "nothing was scored";
  } else {
    json["accuracy"] = round_to(accuracy(count), 1e6);
  }
  const Interval interval = wilson_interval(count);
  json["low"] = round_to(interval.low, 1e4);
  json["high"] = round_to(interval.high, 1e4);
  return json;
}

/// Writes loss and margin if they are known.
template <class Result>
void write_means(const Result& result, Json& json) {
  if (result.loss) json["loss"] = *result.loss;
  if (result.margin) json["margin"] = *result.margin;
}

/// Writes the counts and means at a length, distance or position.
template <class Result>
Json write_place(const char* what, int place, const Result& result) {
  Json json;
  json[what] = place;
  json["token"] = write_count(result.token);
  if constexpr (requires { result.sequence; }) json["sequence"] = write_count(result.sequence);
  write_means(result, json);
  return json;
}

Json write_length_result(const LengthResult& result) { return write_place("length", result.length, result); }
Json write_distance(const DistanceResult& result) { return write_place("distance", result.distance, result); }
Json write_position(const PositionResult& result) { return write_place("position", result.position, result); }

Json write_split_result(const SplitResult& split) {
  Json json;
  json["name"] = split.name;
  json["kind"] = to_string(split.kind);
  json["sequences"] = split.sequences;
  json["token"] = write_count(split.token);
  json["sequence"] = write_count(split.sequence);
  write_means(split, json);
  json["by_length"] = write_list(split.by_length, write_length_result);
  json["by_distance"] = write_list(split.by_distance, write_distance);
  if (!split.by_position.empty()) json["by_position"] = write_list(split.by_position, write_position);
  return json;
}

Json write_grid_point(const GridPoint& point) {
  return {{"multiple", point.multiple},
          {"value", point.value},
          {"sequences", point.sequences},
          {"token", write_count(point.token)},
          {"sequence", write_count(point.sequence)}};
}

Json write_grid(const GridResult& grid) {
  Json json;
  json["option"] = grid.option;
  json["points"] = write_list(grid.points, write_grid_point);
  json["end"] = to_string(grid.end);
  if (!grid.reason.empty()) json["reason"] = grid.reason;
  return json;
}

}  // namespace

Json to_json(const Swept& swept) {
  return {{"task", swept.task},
          {"encoding", swept.encoding},
          {"values", write_list(swept.values, [](const auto& value) {
             return Json{{"name", value.first}, {"value", value.second}};
           })}};
}

Json to_json(const Extended& extended) {
  Json json{{"parent", extended.parent}, {"encoding", extended.encoding}, {"steps", extended.steps}};
  if (!extended.length.empty()) json["length"] = extended.length;
  return json;
}

Json to_json(const CurvePoint& point) {
  Json json;
  json["step"] = point.step;
  json["loss"] = number_or_null(point.loss);
  json["validation_token"] = point.validation_token;
  json["validation_sequence"] = point.validation_sequence;
  for (const SplitAccuracy& split : point.splits)
    json["splits"].push_back({{"name", split.split}, {"token", split.token}, {"sequence", split.sequence}});
  return json;
}

Json to_json(const RateResult& rate) {
  Json json;
  json["learning_rate"] = rate.learning_rate;
  json["steps"] = rate.steps;
  if (rate.diverged_step) json["diverged_step"] = *rate.diverged_step;
  json["final_loss"] = number_or_null(rate.final_loss);
  json["validation_token"] = number_or_null(rate.validation_token);
  json["validation_sequence"] = number_or_null(rate.validation_sequence);
  return json;
}

Json to_json(const ExperimentResult& result) {
  Json json;
  json["task"] = result.id.task;
  json["encoding"] = result.id.encoding;
  json["seed"] = result.id.seed;
  if (result.swept) json["swept"] = to_json(*result.swept);
  if (result.extended) json["extends"] = to_json(*result.extended);
  json["task_version"] = result.task_version;
  json["status"] = to_string(result.status);
  if (!result.description.empty()) json["description"] = result.description;
  if (!result.reason.empty()) json["reason"] = result.reason;
  if (result.diverged_step) json["diverged_step"] = *result.diverged_step;
  json["parameters"] = result.parameters;
  json["steps"] = result.steps;
  json["stopped_early"] = result.stopped_early;
  if (result.tuning) json["tuning"] = true;
  json["final_loss"] = number_or_null(result.final_loss);
  if (result.learning_rate) {
    json["learning_rate"] = *result.learning_rate;
    json["learning_rates"] = write_list(result.learning_rates, [](const RateResult& r) { return to_json(r); });
  }
  json["learning_curve"] =
      write_list(result.learning_curve, [](const CurvePoint& point) { return to_json(point); });
  json["splits"] = write_list(result.splits, write_split_result);
  if (!result.grids.empty()) json["grid"] = write_list(result.grids, write_grid);
  return json;
}

}  // namespace posbench
