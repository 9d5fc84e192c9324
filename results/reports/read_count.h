// Reads counts of right answers and checks them, for Field and for SimdjsonField.
#pragma once
#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "results/json/json.h"
#include "results/json/simdjson_field.h"
#include "results/statistics/statistics.h"
#include "results/types/experiment_result.h"

namespace posbench {

/// A double holds this count, and the sums of a whole file do not overflow.
inline constexpr std::int64_t kMaxCount = 1'000'000'000'000;
inline constexpr int kMaxInt = std::numeric_limits<int>::max();
inline constexpr double kMaxNumber = std::numeric_limits<double>::max();

template <class Field>
Count read_count(const Field& correct, const Field& total, std::int64_t least_total = 0) {
  const Count count{correct.integer(0, kMaxCount), total.integer(least_total, kMaxCount)};
  if (count.correct > count.total) correct.fail(fmt::format("more than its total, {}", count.total));
  return count;
}

/// Returns a member, or nothing if it is missing.
inline std::optional<Field> find_member(const Field& json, const char* key) {
  if (!json.has(key)) return std::nullopt;
  return json[key];
}
inline std::optional<SimdjsonField> find_member(const SimdjsonField& json, const char* key) {
  return json.find(key);
}

/// Checks a number that other programs read. It must follow from the count, apart from rounding by `unit`.
template <class Field>
void check_derived(const Field& json, const char* key, double expected, double unit, Count count) {
  const std::optional<Field> given = find_member(json, key);
  if (!given || std::abs(given->number(-kMaxNumber, kMaxNumber) - expected) <= 0.5001 * unit) return;
  given->fail(fmt::format("expected {:.6g}, which follows from {} of {}", expected, count.correct, count.total));
}

template <class Field>
Count read_count(const Field& json, std::int64_t least_total = 0) {
  const Count count = read_count(json["correct"], json["total"], least_total);
  if (count.total > 0) {
    check_derived(json, "accuracy", accuracy(count), 1e-6, count);
  } else if (const std::optional<Field> accuracy = find_member(json, "accuracy"); accuracy && !accuracy->null()) {
    accuracy->fail("expected null, as nothing was scored");
  }
  const Interval interval = wilson_interval(count);
  check_derived(json, "low", interval.low, 1e-4, count);
  check_derived(json, "high", interval.high, 1e-4, count);
  return count;
}

/// Refuses more sequences with an answer than were evaluated. `place` is "split" or "multiple".
template <class Field>
void check_sequences(const Field& json, Count count, std::int64_t sequences, const char* place) {
  if (count.total <= sequences) return;
  const Field sequence = json["sequence"];
  sequence["total"].fail(fmt::format("more than the sequences of its {}, {}", place, sequences));
}

/// Refuses a list with two items that have the same `key`.
template <class Field, class T>
void check_unique(const Field& list, const std::vector<T>& items, const char* key, std::string T::*member,
                  const char* what) {
  std::set<std::string> names;
  for (size_t i = 0; i < items.size(); ++i) {
    if (names.insert(items[i].*member).second) continue;
    const Field item = list[i];
    item[key].fail(what);
  }
}

}  // namespace posbench
