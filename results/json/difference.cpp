#include "results/json/difference.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "base/printable.h"

namespace posbench {
namespace {

/// Returns a value for a message: a list with its items, unless they are long.
std::string value_text(const Json& value) {
  constexpr size_t kMax = 200;  // characters
  return value.is_array() ? to_one_line(to_compact_json(value), kMax) : describe_json(value);
}

}  // namespace

std::optional<JsonDifference> first_difference(const Json& first, const Json& second, const std::string& path) {
  if (!first.is_object() || !second.is_object()) {
    if (first == second) return std::nullopt;
    return JsonDifference{path, value_text(first), value_text(second)};
  }
  for (const Json* object : {&first, &second}) {
    for (const auto& [key, value] : object->items()) {
      if (auto found = member_difference(first, second, key, path)) return found;
    }
  }
  return std::nullopt;
}

std::optional<JsonDifference> member_difference(const Json& first, const Json& second, const std::string& key,
                                                const std::string& path) {
  const std::string inner = path.empty() ? key : path + "." + key;
  const bool in_first = first.contains(key), in_second = second.contains(key);
  if (in_first && in_second) return first_difference(first.at(key), second.at(key), inner);
  if (in_first == in_second) return std::nullopt;
  return JsonDifference{inner, in_first ? value_text(first.at(key)) : "missing",
                        in_second ? value_text(second.at(key)) : "missing"};
}

}  // namespace posbench
