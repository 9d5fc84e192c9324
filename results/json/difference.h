// Finds the differences of two JSON values.
#pragma once
#include <string>
#include <vector>

#include "results/json/json.h"

namespace posbench {

struct JsonDifference {
  std::string path;  // keys from the outermost object, separated by '.'; empty if the values themselves differ
  std::string first, second;  // the values as messages show them, or "missing"
};

/// Returns the differences in the order of the keys, first those of `first`. Compares objects key by key and other
/// values as a whole. `path` is a prefix of the reported paths.
std::vector<JsonDifference> differences(const Json& first, const Json& second, const std::string& path = "");

/// Does the same for one member of both objects.
std::vector<JsonDifference> member_differences(const Json& first, const Json& second, const std::string& key,
                                               const std::string& path = "");

}  // namespace posbench
