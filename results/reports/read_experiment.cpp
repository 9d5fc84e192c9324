#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "results/json/json.h"
#include "results/reports/experiment_json.h"
#include "results/statistics/statistics.h"
#include "results/types/experiment_result.h"

namespace posbench {
namespace {

/// A double holds this count, and the sums of a whole file do not overflow.
constexpr std::int64_t kMaxCount = 1'000'000'000'000;
constexpr int kMaxInt = std::numeric_limits<int>::max();
constexpr double kMaxNumber = std::numeric_limits<double>::max();

Count read_count(const Field& correct, const Field& total, std::int64_t least_total = 0) {
  const Count count{correct.integer(0, kMaxCount), total.integer(least_total, kMaxCount)};
  if (count.correct > count.total) correct.fail(fmt::format("more than its total, {}", count.total));
  return count;
}

/// Checks a number that other programs read. It must follow from the count, apart from rounding by `unit`.
void check_derived(const Field& json, const char* key, double expected, double unit, Count count) {
  if (!json.has(key)) return;
  const Field given = json[key];
  if (std::abs(given.number(-kMaxNumber, kMaxNumber) - expected) <= 0.5001 * unit) return;
  given.fail(fmt::format("expected {:.6g}, which follows from {} of {}", expected, count.correct, count.total));
}

Count read_count(const Field& json, std::int64_t least_total = 0) {
  const Count count = read_count(json["correct"], json["total"], least_total);
  if (count.total > 0) {
    check_derived(json, "accuracy", accuracy(count), 1e-6, count);
  } else if (json.has("accuracy") && !json["accuracy"].null()) {
    json["accuracy"].fail("expected null, as nothing was scored");
  }
  const Interval interval = wilson_interval(count);
  check_derived(json, "low", interval.low, 1e-4, count);
  check_derived(json, "high", interval.high, 1e-4, count);
  return count;
}

/// Refuses more sequences with an answer than were evaluated. `place` is "split" or "multiple".
void check_sequences(const Field& json, Count count, std::int64_t sequences, const char* place) {
  if (count.total <= sequences) return;
  const Field sequence = json["sequence"];
  sequence["total"].fail(fmt::format("more than the sequences of its {}, {}", place, sequences));
}

Swept read_swept(const Field& json) {
  return {.task = json["task"].name(),
          .encoding = json["encoding"].name(),
          .values = read_list<std::pair<std::string, std::string>>(json["values"], [](const Field& value) {
            return std::pair(value["name"].name(), value["value"].text());
          })};
}

Extended read_extended(const Field& json) {
  return {.parent = json["parent"].name(),
          .encoding = json["encoding"].name(),
          .steps = static_cast<int>(json["steps"].integer(0, kMaxInt)),
          .length = json.has("length") ? json["length"].text() : ""};
}

/// A count by length or distance in its compact form, which is a list: its length or distance, then pairs of a
/// number of right answers and their total.
class CompactCounts {
 public:
  CompactCounts(const Field& json, size_t size, const char* what) : json_(json) {
    if (json.size() != size) json.fail(fmt::format("with {} values, expected {}: {}", json.size(), size, what));
  }
  int first() const { return static_cast<int>(json_[size_t{0}].integer(0, kMaxInt)); }
  Count count(size_t at) const { return read_count(json_[at], json_[at + 1]); }

 private:
  const Field& json_;
};

std::optional<double> read_loss(const Field& json) {
  if (json.null()) return std::nullopt;
  return json.number(-kMaxNumber, kMaxNumber);
}

CurvePoint read_point(const Field& json) {
  CurvePoint point{.step = static_cast<int>(json["step"].integer(0, kMaxInt)),
                   .loss = read_loss(json["loss"]),
                   .validation_token = json["validation_token"].number(0, 1),
                   .validation_sequence = json["validation_sequence"].number(0, 1)};
  if (json.has("splits")) {
    point.splits = read_list<SplitAccuracy>(json["splits"], [](const Field& split) {
      return SplitAccuracy{split["name"].name(), split["token"].number(0, 1), split["sequence"].number(0, 1)};
    });
  }
  return point;
}

RateResult read_rate(const Field& json) {
  RateResult rate{.learning_rate = json["learning_rate"].number(0, 1),
                  .steps = static_cast<int>(json["steps"].integer(0, kMaxInt))};
  if (json.has("diverged_step")) {
    rate.diverged_step = static_cast<int>(json["diverged_step"].integer(0, kMaxInt));
  } else {
    rate.final_loss = json["final_loss"].number(-kMaxNumber, kMaxNumber);
    rate.validation_token = json["validation_token"].number(0, 1);
    rate.validation_sequence = json["validation_sequence"].number(0, 1);
  }
  return rate;
}

std::optional<double> read_mean(const Field& json, const char* key) {
  if (!json.has(key)) return std::nullopt;
  return json[key].number(-kMaxNumber, kMaxNumber);
}

LengthResult read_length(const Field& json) {
  if (json.is_list()) {
    const CompactCounts counts(json, 5, "length, tokens right, tokens, sequences right, sequences");
    return {.length = counts.first(), .token = counts.count(1), .sequence = counts.count(3)};
  }
  return {.length = static_cast<int>(json["length"].integer(0, kMaxInt)),
          .token = read_count(json["token"]),
          .sequence = read_count(json["sequence"]),
          .loss = read_mean(json, "loss"),
          .margin = read_mean(json, "margin")};
}

DistanceResult read_distance(const Field& json) {
  if (json.is_list()) {
    const CompactCounts counts(json, 3, "distance, tokens right, tokens");
    return {.distance = counts.first(), .token = counts.count(1)};
  }
  return {.distance = static_cast<int>(json["distance"].integer(0, kMaxInt)),
          .token = read_count(json["token"]),
          .loss = read_mean(json, "loss"),
          .margin = read_mean(json, "margin")};
}

PositionResult read_position(const Field& json) {
  return {.position = static_cast<int>(json["position"].integer(1, kMaxInt)),
          .token = read_count(json["token"]),
          .loss = read_mean(json, "loss"),
          .margin = read_mean(json, "margin")};
}

/// Reads a list whose items have ascending values of `key` or, if the items are lists, of their first integer.
template <class T, class Key, class Read>
std::vector<T> read_ascending(const Field& list, const char* key, Key T::*member, Read read) {
  std::vector<T> items = read_list<T>(list, read);
  for (size_t i = 1; i < items.size(); ++i) {
    if (items[i].*member <= items[i - 1].*member) {
      const Field item = list[i];
      const Field at = item.is_list() ? item[size_t{0}] : item[key];
      at.fail(fmt::format("not more than the {} before it, {}", key, items[i - 1].*member));
    }
  }
  return items;
}

/// Checks that the counts of a list add up to that of its split.
template <class T>
void check_sum(const Field& json, const char* list, const std::vector<T>& items, Count T::*member,
               const char* counted, Count expected) {
  if (items.empty()) return;
  Count sum;
  for (const T& item : items) sum += item.*member;
  if (sum == expected) return;
  json[list].fail(fmt::format("with {} of {} {} right, expected {} of {} as in its split", sum.correct, sum.total,
                              counted, expected.correct, expected.total));
}

void check_sums(const Field& json, const SplitResult& split) {
  check_sum(json, "by_length", split.by_length, &LengthResult::token, "tokens", split.token);
  check_sum(json, "by_length", split.by_length, &LengthResult::sequence, "sequences", split.sequence);
  check_sum(json, "by_distance", split.by_distance, &DistanceResult::token, "tokens", split.token);
  check_sum(json, "by_position", split.by_position, &PositionResult::token, "tokens", split.token);
}

SplitResult read_split(const Field& json) {
  SplitResult split{
      .name = json["name"].name(),
      .kind = json["kind"].enumerator<SplitKind>(),
      .sequences = json["sequences"].integer(0, kMaxCount),
      .token = read_count(json["token"], 1),
      .sequence = read_count(json["sequence"], 1),
      .loss = read_mean(json, "loss"),
      .margin = read_mean(json, "margin"),
      .by_length = read_ascending(json["by_length"], "length", &LengthResult::length, read_length),
      .by_distance = read_ascending(json["by_distance"], "distance", &DistanceResult::distance, read_distance)};
  if (json.has("by_position")) {
    split.by_position = read_ascending(json["by_position"], "position", &PositionResult::position, read_position);
  }
  check_sequences(json, split.sequence, split.sequences, "split");
  check_sums(json, split);
  return split;
}

GridPoint read_grid_point(const Field& json) {
  GridPoint point{.multiple = json["multiple"].number(1, 1e6),
                  .value = static_cast<int>(json["value"].integer(0, kMaxInt)),
                  .sequences = json["sequences"].integer(1, kMaxCount),
                  .token = read_count(json["token"], 1),
                  .sequence = read_count(json["sequence"], 1)};
  check_sequences(json, point.sequence, point.sequences, "multiple");
  return point;
}

/// Checks that a grid ended where its accuracies say.
void check_end(const Field& json, const GridResult& grid) {
  const Field end = json["end"];
  const bool is_limited = grid.end != GridEnd::complete && grid.end != GridEnd::accuracy;
  if (is_limited && grid.reason.empty()) end.fail("which needs a 'reason'");
  size_t tested = 0;  // until two in a row are too low, or with grid_rules 2 until kGridLeast
  for (int low = 0; tested < grid.points.size() && low < 2; ++tested) {
    low = accuracy(grid.points[tested].sequence) < kGridFloor ? low + 1 : 0;
    if (low == 2 && tested + 1 < grid.points.size() && grid.points[tested + 1].multiple <= kGridLeast) low = 1;
  }
  if (tested == grid.points.size() && has_failed(grid) == (grid.end == GridEnd::accuracy)) return;
  end.fail(fmt::format("expected '{}' if the last two multiples are below {}, and another end if they are not",
                       to_string(GridEnd::accuracy), kGridFloor));
}

GridResult read_grid(const Field& json) {
  GridResult grid{.option = json["option"].name()};
  const Field points = json["points"];
  grid.points = read_ascending(points, "multiple", &GridPoint::multiple, read_grid_point);
  for (size_t i = 1; i < grid.points.size(); ++i) {
    if (grid.points[i].value > grid.points[i - 1].value) continue;
    const Field point = points[i];
    point["value"].fail(fmt::format("not more than the value before it, {}", grid.points[i - 1].value));
  }
  grid.end = json["end"].enumerator<GridEnd>();
  if (json.has("reason")) grid.reason = json["reason"].text();
  check_end(json, grid);
  return grid;
}

/// Reads the grids, which older reports and runs without evaluation.grid do not have.
std::vector<GridResult> read_grids(const Field& json, Status status) {
  if (!json.has("grid")) return {};
  const Field list = json["grid"];
  std::vector<GridResult> grids = read_list<GridResult>(list, read_grid);
  if (status != Status::ok && !grids.empty())
    list.fail(fmt::format("expected no grid, as the experiment is {}", to_string(status)));
  check_unique(list, grids, "option", &GridResult::option, "the option of an earlier grid too");
  return grids;
}

/// Checks the splits of an experiment against its other fields.
void check_splits(const Field& json, const ExperimentResult& result) {
  const Field splits = json["splits"];
  if (result.status != Status::ok && !result.splits.empty()) {
    splits.fail(fmt::format("expected an empty one, as the experiment is {}", to_string(result.status)));
  }
  check_unique(splits, result.splits, "name", &SplitResult::name, "the name of an earlier split too");
}

/// Reads the learning rates, which old reports and experiments with one learning rate do not have.
void read_learning_rates(const Field& json, ExperimentResult& result) {
  if (!json.has("learning_rates")) return;
  const Field chosen = json["learning_rate"];
  result.learning_rate = chosen.number(0, 1);
  result.learning_rates = read_rates(json["learning_rates"]);
  const std::vector<RateResult>& rates = result.learning_rates;
  if (std::ranges::find(rates, *result.learning_rate, &RateResult::learning_rate) == rates.end())
    chosen.fail("not one of its 'learning_rates'");
}

/// Checks that an experiment that failed or has missing numbers has a `reason`.
void check_reason(const Field& json, const ExperimentResult& result) {
  if (!result.reason.empty()) return;
  constexpr const char* kMissing = "which needs a 'reason'";
  if (result.status != Status::ok) json["status"].fail(kMissing);
  if (!result.final_loss) json["final_loss"].fail(kMissing);
  const auto lost = [](const CurvePoint& point) { return !point.loss; };
  if (std::ranges::any_of(result.learning_curve, lost)) {
    json["learning_curve"].fail("with a loss of null, which needs a 'reason'");
  }
}

std::optional<int> read_diverged_step(const Field& json, Status status) {
  if (status != Status::diverged) return std::nullopt;
  return static_cast<int>(json["diverged_step"].integer(0, kMaxInt));
}

}  // namespace

ExperimentResult read_experiment(const Field& json) {
  ExperimentResult result;
  result.id = {json["task"].name(), json["encoding"].name(), json["seed"].natural()};
  result.task_version = static_cast<int>(json["task_version"].integer(1, kMaxInt));
  result.status = json["status"].enumerator<Status>();
  if (json.has("swept")) result.swept = read_swept(json["swept"]);
  if (json.has("extends")) result.extended = read_extended(json["extends"]);
  if (json.has("description")) result.description = json["description"].text();
  if (json.has("reason")) result.reason = json["reason"].text();
  result.diverged_step = read_diverged_step(json, result.status);
  result.parameters = json["parameters"].integer(0, kMaxCount);
  result.steps = static_cast<int>(json["steps"].integer(0, kMaxInt));
  result.stopped_early = json["stopped_early"].flag();
  if (json.has("tuning")) result.tuning = json["tuning"].flag();
  result.final_loss = read_loss(json["final_loss"]);
  read_learning_rates(json, result);
  result.learning_curve = read_curve(json["learning_curve"]);
  result.splits = read_list<SplitResult>(json["splits"], read_split);
  result.grids = read_grids(json, result.status);
  check_reason(json, result);
  check_splits(json, result);
  return result;
}

std::vector<CurvePoint> read_curve(const Field& json) {
  return read_ascending(json, "step", &CurvePoint::step, read_point);
}

std::vector<RateResult> read_rates(const Field& json) {
  return read_ascending(json, "learning_rate", &RateResult::learning_rate, read_rate);
}

ExperimentResult experiment_from_json(const Json& json, const std::string& file) {
  return read_experiment(Field(json, file));
}

}  // namespace posbench
