// Reads the result of simdjson without building a JSON value.
#pragma once
#include <simdjson.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/printable.h"

namespace posbench {

/// Has the readers of Field (results/json/json.h), is many times as fast, and rejects the same values, but its
/// errors name no location. Throws exceptions derived from std::exception.
class TapeField {
 public:
  explicit TapeField(simdjson::dom::element value) : value_(value) {}

  TapeField operator[](const char* key) const { return TapeField(value_.at_key(key)); }
  TapeField operator[](size_t index) const { return TapeField(value_.at(index)); }  // linear time
  bool has(const char* key) const { return value_.at_key(key).error() == simdjson::SUCCESS; }
  bool null() const { return value_.is_null(); }
  bool has_lists() const {  // as its items; the first tells
    const simdjson::dom::array items = value_;
    return items.begin() != items.end() && (*items.begin()).is_array();
  }
  size_t size() const { return simdjson::dom::array(value_).size(); }
  template <class F>
  void each(F f) const {
    for (const simdjson::dom::element item : simdjson::dom::array(value_)) f(TapeField(item));
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

  [[noreturn]] void fail(const std::string& what) const { throw std::runtime_error(what); }

 private:
  template <class T>
  T within(T value, T low, T high) const {
    if (!(value >= low && value <= high)) fail("out of range");
    return value;
  }

  simdjson::dom::element value_;
};

}  // namespace posbench
