// The difference of two JSON values.
#pragma once
#include <optional>
#include <string>

#include "results/json/json.h"

namespace posbench {

struct JsonDifference {
  std::string path;  // keys from the outermost object, separated by '.'; empty where the values themselves differ
  std::string first, second;  // the values there as messages show them, or "missing"
};

/// The first difference in the order of the keys; nothing where the values are equal. Objects are compared key by
/// key, and everything else as a whole. `path` stands in front of the path that is found.
std::optional<JsonDifference> first_difference(const Json& first, const Json& second, const std::string& path = "");

/// The same for one member of both objects.
std::optional<JsonDifference> member_difference(const Json& first, const Json& second, const std::string& key,
                                                const std::string& path = "");

}  // namespace posbench
