// The difference of two JSON values.
#pragma once
#include <optional>
#include <string>

#include "results/json/json.h"

namespace posbench {

struct JsonDifference {
  std::string path;  // keys from the outermost object, separated by '.'; empty if the values themselves differ
  std::string first, second;  // the values there, as in messages, or "missing"
};

/// The first difference in the order of the keys; nothing if the values are equal. Objects are compared key by
/// key, everything else as a whole. `path` is a prefix of the reported path.
std::optional<JsonDifference> first_difference(const Json& first, const Json& second, const std::string& path = "");

/// The same for one member of both objects.
std::optional<JsonDifference> member_difference(const Json& first, const Json& second, const std::string& key,
                                                const std::string& path = "");

}  // namespace posbench
