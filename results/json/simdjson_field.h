// Provides the readers of Field for values that simdjson has parsed, so that no JSON value has to be built.
#pragma once
#include <simdjson.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/printable.h"

namespace posbench {

/// Rejects the same values as Field (results/json/json.h), but its errors name no location. They are derived from
/// std::exception.
class SimdjsonField {
 public:
  explicit SimdjsonField(simdjson::dom::element value) : value_(value) {}

  SimdjsonField operator[](const char* key) const { return SimdjsonField(value_.at_key(key)); }
  SimdjsonField operator[](size_t index) const { return SimdjsonField(value_.at(index)); }  // linear time
  bool has(const char* key) const { return value_.at_key(key).error() == simdjson::SUCCESS; }
  /// Returns a member, or nothing if it is missing.
  std::optional<SimdjsonField> find(const char* key) const {
    simdjson::dom::element member;
    if (value_.at_key(key).get(member) != simdjson::SUCCESS) return std::nullopt;
    return SimdjsonField(member);
  }
  bool null() const { return value_.is_null(); }
  bool has_lists() const {  // looks at the first item only
    const simdjson::dom::array items = value_;
    return items.begin() != items.end() && (*items.begin()).is_array();
  }
  size_t size() const { return simdjson::dom::array(value_).size(); }
  template <class F>
  void each(F f) const {
    for (const simdjson::dom::element item : simdjson::dom::array(value_)) f(SimdjsonField(item));
  }
  std::string text() const { return std::string(std::string_view(value_)); }
  std::string name() const {
    std::string text = this->text();
    if (!is_name(text)) fail("expected a name");
    return text;
  }
  bool flag() const { return bool(value_); }
  std::int64_t integer(std::int64_t low, std::int64_t high) const {
    return within(std::int64_t(value_), low, high);
  }
  std::uint64_t natural() const { return std::uint64_t(value_); }
  double number(double low, double high) const { return within(double(value_), low, high); }
  size_t choice(const std::vector<std::string>& names) const {
    const auto found = std::find(names.begin(), names.end(), std::string_view(value_));
    if (found == names.end()) fail("expected one of a few names");
    return static_cast<size_t>(found - names.begin());
  }

  [[noreturn]] void fail(const std::string& what) const { throw InputError(what); }

 private:
  template <class T>
  T within(T value, T low, T high) const {
    if (!(value >= low && value <= high)) fail("out of range");
    return value;
  }

  simdjson::dom::element value_;
};

}  // namespace posbench
