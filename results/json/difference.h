// Finds the first difference of two JSON values.
#pragma once
#include <optional>
#include <string>

#include "results/json/json.h"

namespace posbench {

struct JsonDifference {
  std::string path;  // keys from the outermost object, separated by '.'; empty if the values themselves differ
  std::string first, second;  // the values as messages show them, or "missing"
};

/// Returns the first difference in the order of the keys, or nothing if the values are equal. Compares objects key
/// by key and other values as a whole. `path` is a prefix of the reported path.
std::optional<JsonDifference> first_difference(const Json& first, const Json& second,
                                               const std::string& path = "");

/// Does the same for one member of both objects.
std::optional<JsonDifference> member_difference(const Json& first, const Json& second, const std::string& key,
                                                const std::string& path = "");

}  // namespace posbench
