#include "results/json/difference.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/printable.h"

namespace posbench {
namespace {

/// Returns a value for a message: a list with its items, unless they are long.
std::string value_text(const Json& value) {
  constexpr size_t kMax = 200;  // characters
  return value.is_array() ? to_one_line(to_compact_json(value), kMax) : describe_json(value);
}

}  // namespace

std::vector<JsonDifference> differences(const Json& first, const Json& second, const std::string& path) {
  if (!first.is_object() || !second.is_object()) {
    if (first == second) return {};
    return {{path, value_text(first), value_text(second)}};
  }
  std::vector<JsonDifference> all;
  for (const Json* object : {&first, &second}) {
    for (const auto& [key, value] : object->items()) {
      if (object == &second && first.contains(key)) continue;
      std::ranges::move(member_differences(first, second, key, path), std::back_inserter(all));
    }
  }
  return all;
}

std::vector<JsonDifference> member_differences(const Json& first, const Json& second, const std::string& key,
                                               const std::string& path) {
  const std::string inner = path.empty() ? key : path + "." + key;
  const bool in_first = first.contains(key), in_second = second.contains(key);
  if (in_first && in_second) return differences(first.at(key), second.at(key), inner);
  if (in_first == in_second) return {};
  return {{inner, in_first ? value_text(first.at(key)) : "missing",
           in_second ? value_text(second.at(key)) : "missing"}};
}

}  // namespace posbench
