#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/name.h"
#include "base/printable.h"
#include "base/text.h"
#include "results/json/json.h"

namespace posbench {

std::string Field::location() const {
  if (!parent_) return key_ ? fmt::format("{}[{}]", key_, index_) : "";
  const std::string before = parent_->location();
  if (!key_) return fmt::format("{}[{}]", before, index_);
  return before.empty() ? key_ : fmt::format("{}.{}", before, key_);
}

void Field::fail(const std::string& what) const {
  const std::string location = this->location();
  throw_json_error(*file_, location.empty() ? "the whole" : location, *value_, what);
}

Field Field::operator[](const char* key) const& {
  const Json& object = this->object();
  const auto found = object.find(key);
  if (found != object.end()) return {*found, this, key, 0};
  throw InputError(to_printable(fmt::format("{}: {} is missing", *file_, Field{object, this, key, 0}.location())));
}

Field Field::operator[](size_t index) const& { return {value_->at(index), this, nullptr, index}; }

bool Field::has(const char* key) const { return object().contains(key); }

bool Field::null() const { return value_->is_null(); }

bool Field::is_list() const { return value_->is_array(); }

size_t Field::size() const {
  if (!value_->is_array()) fail("expected a list");
  return value_->size();
}

const Json& Field::object() const {
  if (!value_->is_object()) fail("expected an object");
  return *value_;
}

void Field::refuse_other_keys(const std::vector<std::string>& known) const {
  for (const auto& [key, value] : object().items()) {
    if (std::ranges::find(known, key) != known.end()) continue;
    Field{value, this, key.c_str(), 0}.fail("unknown key" + did_you_mean(key, known));
  }
}

std::string Field::text() const {
  if (!value_->is_string()) fail("expected a text");
  return value_->get<std::string>();
}

std::string Field::name() const {
  std::string text = this->text();
  if (!is_name(text)) fail("expected a name");
  return text;
}

bool Field::flag() const {
  if (!value_->is_boolean()) fail("expected true or false");
  return value_->get<bool>();
}

std::int64_t Field::integer(std::int64_t low, std::int64_t high) const {
  const bool fits = value_->is_number_unsigned() ? std::in_range<std::int64_t>(value_->get<std::uint64_t>())
                                                 : value_->is_number_integer();
  const std::int64_t value = fits ? value_->get<std::int64_t>() : 0;
  if (!fits || value < low || value > high) fail(fmt::format("expected an integer from {} to {}", low, high));
  return value;
}

std::uint64_t Field::natural() const {
  if (!value_->is_number_integer() || (!value_->is_number_unsigned() && value_->get<std::int64_t>() < 0)) {
    fail(fmt::format("expected an integer from 0 to {}", std::numeric_limits<std::uint64_t>::max()));
  }
  return value_->get<std::uint64_t>();
}

double Field::number(double low, double high) const {
  const double value = value_->is_number() ? value_->get<double>() : std::numeric_limits<double>::quiet_NaN();
  if (!(value >= low && value <= high)) fail(fmt::format("expected a number from {} to {}", low, high));
  return value;
}

size_t Field::choice(const std::vector<std::string>& names) const {
  const auto found =
      value_->is_string() ? std::ranges::find(names, value_->get_ref<const std::string&>()) : names.end();
  if (found == names.end()) fail(fmt::format("expected one of {}", fmt::join(names, ", ")));
  return static_cast<size_t>(found - names.begin());
}

}  // namespace posbench
